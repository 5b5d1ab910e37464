#args: 1.5,0.25,6,3
#entry: f
using NiLangCore

# Functions of the host that are said to undo each other are reversible.
function add(a!::Number, b::Number)
    a! + b, b
end

function sub(a!::Number, b::Number)
    a!-b, b
end
@dual add sub

negative(b::Number) = -b
@selfdual negative

function either(a!::Integer, b::Integer)
    return xor(a!, b), b
end
@selfdual either

# It is not said of this one: it stands for its value.
twice(x) = x + x

@i function f(loss, x, n, k)
    add(loss, x)
    add(loss, x)
    sub(loss, x)
    negative(x)
    loss += twice(x)
    either(n, k)
    (~either)(n, k)
    (~sub)(loss, x)
    sub(loss, x)
    either(n, k)
end
#value: loss = 1.25
#value: x = -0.25
#value: n = 5
#grad: loss loss=1 x=-1
