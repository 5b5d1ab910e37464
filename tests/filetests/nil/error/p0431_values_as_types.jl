# Values as types are known before the run, and there is a definition for each.
#args: 1,2.0
#entry: f
using NiLang
@i function g(y, x, ::Val{1})
    y += x
end
@i function f(n, x)
    g(x, 1.0, Val(n)) #! P0431 `Val` takes a value that is known before the run
    g(x, 1.0, Val(2)) #! P0434 `g` is not for (Float64, Float64, Val(2))
    g(x, 1.0, nothing) #! P0434 `g` is not for (Float64, Float64, nothing)
    for y in reverse(x) #! P0431 a loop does not go through Float64 from the end
        n += 1
    end
end
