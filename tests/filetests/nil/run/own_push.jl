# A definition of `PUSH!` by the global stack.
#args: 1.0
#entry: f
@i function PUSH!(x::Float64)
    PUSH!(GLOBAL_STACK, x)
end
@i function f(x::Float64)
    y ← 1.5
    PUSH!(y)
    x += y
    (~PUSH!)(y)
    x += y
    y → 1.5
end
#value: x = 2.5
