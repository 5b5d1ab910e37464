# Numbers that the host assigns once in a block are constants of the functions in it.
#args: 0.0,2.0
#entry: f
using NiLang
const add = PlusEq(identity)
const g = 3
const g = 4
function other(x::Vector; k = g, n)
    x .* k
end
@testset "one" begin #! P0461 host code is skipped: 2 statements
    k = 3
    two, half = 2, 0.5
    @instr add(1, 2)
    @i function f(y, x)
        y += k * x
        y += two * half
        add(y, x)
        y += g
    end
end
@testset "other" begin
    k = 4
    @i function g(y, x)
        y += k * x
    end
end
#value: y = 13.0
