# A function that could not be read is called.
#args: 1.0
#entry: g
@i function f(x::Float64) #! P0463 1 of 3 reversible functions are left out
    x = 3 #! P0463 `f` is left out @ =
end
@i function f(x)
    x += 1
end
@i function g(x)
    f(x) #! P0463 this `f` could not be read and is left out @ f(x)
end
