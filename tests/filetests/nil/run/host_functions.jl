# Functions of the host that are one expression.
#args: 0.0,3.0
#entry: f
sq(x) = x^2
cube(x::T) where T = x * sq(x)
function shifted(x, y)
    return sq(x) + y
end
relu(x::Int) = 0
relu(x) = max(x, 0)
@i function f(y, x)
    y += sq(x) + cube(x)
    y += shifted(x, 1) * relu(-x + 4)
end
#value: y = 46.0
#grad: y y=1 x=29
