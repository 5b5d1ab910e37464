# Dictionaries with whole numbers as keys. A key has a value, or zero if there is none.
#args: 0.0,2.0,1
using NiLang
@i function put(d, k, x)
    d[k] ← x
end
@i function f(y, x, k)
    d ← Dict{Int,Float64}()
    d[k] ← x
    put(d, k + 6, 2.5)
    y += d[k] * d[7]
    ~put(d, k + 6, 2.5)
    d[k] → x
    d → Dict{Int,Float64}()
    e ← Dict(1 => 2, 7 => 3)
    e[2] ← e[7]
    y += e[2]
    e[2] → 3
    e → Dict(7 => 3, 1 => 2)
end
#value: y = 8.0
