# A number of the host that is assigned twice, or changed by `@instr`, is none of the functions'.
#args: 0.0,2.0
using NiLang
@testset "several" begin #! P0461 host code is skipped: 1 statement
    k = 3
    n = 1
    @i function f(y, x)
        y += k * x #! P0430 there is no `k` here @ k
        y += n #! P0430 there is no `n` here @ n
    end
    k = 4
    @instr f(n, 2)
end
