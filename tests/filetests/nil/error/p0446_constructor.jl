# A struct with a constructor of its own is not made from its fields.
struct D
    x::Float64
    D(x) = new(2x) #! P0461 host code is skipped: 1 statement; `-v` lists them
end
@i function f(y::Float64, x::Float64)
    d ← D(x) #! P0446 `D` has a constructor of its own @ D(x)
end
