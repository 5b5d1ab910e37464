# Defaults of positional parameters, a definition for so many arguments, Vararg, and functions of the host with keywords.
#args: 0.0,2.0
#entry: f
using NiLang
power(x, by=1.0; k=2) = by * x^k
@i function scaled(y, x, k=2.0)
    y += k * x
end
@i function typed(y, x, k::Float64=2, n::Int=3)
    y += k * x + n
end
@i function two(y, v::Vararg{Float64,2})
    y += v[1] * v[2]
end
@i function two(y, v::Vararg{Float64,3})
    y += v[1] + v[2] + v[3]
end
@i function f(y, x)
    scaled(y, x)
    scaled(y, x, 5.0)
    typed(y, x)
    typed(y, x, 1.0, 1)
    two(y, x, 3.0)
    two(y, x, 3.0, 4.0)
    y += power(x) + power(x; k=3) + power(x, x; k=1)
end
#value: y = 55.0
#grad: y y=1 x=34
