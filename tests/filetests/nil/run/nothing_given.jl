# nothing as an argument and as a default: what it decides is decided before the run.
#args: 0.0,2.0
#entry: f
using NiLang
@i function scaled(y, x, by)
    if (by === nothing, ~)
        y += x
    else
        y += by * x
    end
end
@i function marked(y, x; by=nothing, more=1.0)
    if (!isnothing(by), ~)
        y += by
    end
    y += more * x
end
@i function f(y, x)
    scaled(y, x, nothing)
    scaled(y, x, 3.0)
    marked(y, x)
    marked(y, x; more=x)
    marked(y, x; by=10.0, more=x * 2)
end
#value: y = 32.0
#grad: y y=1 x=17
