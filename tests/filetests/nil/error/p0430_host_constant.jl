# A name that the host binds again anywhere is no constant of the functions in its blocks.
#args: 0.0,2.0
using NiLang
c = 1
const w = [1.0, 2.0]
@testset "several" begin #! P0461 host code is skipped: 3 statements
    k = 3
    n = 1
    m = 2
    l = 7
    v = [1.0, 2.0]
    t::Int = 3
    @i function f(y, x)
        y += k * x #! P0430 there is no `k` here @ k
        y += n #! P0430 there is no `n` here @ n
        y += m #! P0430 there is no `m` here @ m
        y += l #! P0430 there is no `l` here @ l
        y += v[1] #! P0430 there is no `v` here @ v
        y += c #! P0430 there is no `c` here @ c #? the host gives `c` several values
        y += w[1] #! P0430 there is no `w` here @ w
    end
    k = 4
    @instr f(n, 2)
    (m, o) = (4, 5)
    g() = (l = 8)
    v[1] = 3.0
end
function other(c)
    c + 1
end
for i = 1:2
    w[i] = 3.0
end
@test h(1; k = 3)
