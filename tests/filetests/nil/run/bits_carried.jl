# Shifts of NiLang, and a turn as a value.
#args: 0,13,(0.0,0.0),1.0
#types: Int,Int,Tuple{Float64,Float64},Float64
using NiLang
@i function f(n, x, t, a)
    n += plshift(x, 3)
    n += prshift(x, 2)
    n += arshift(-x, 1)
    t += rot(a, 0.0, 0.0)
end
#value: n = 4611686018427388004
#value: t.1 = 1.0
