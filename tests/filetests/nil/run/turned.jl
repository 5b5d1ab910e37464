# From the end; views that count and turn truth values; complex powers; a struct that begins with a complex number.
#args: [0.0,0.0],[1.0,2.0],3,true,(0.0,0.0),(3.0,4.0)
#types: Vector{Float64},Vector{Float64},Int,Bool,Complex{Float64},Complex{Float64}
using NiLang
struct Wave{T}
    amplitude::Complex{T}
    phase::T
end
@i function f(y, v, n, b, z, w)
    k ← 0
    for x in reverse(v)
        k += 1
        y[k] += x
    end
    k → length(v)
    (n |> INC) += 1
    (b |> FLIP) ⊻= true
    z += (w^2)^0.5
    wave ← Wave(w, v[1])
    y[1] += abs(wave.amplitude) * wave.phase
    wave → Wave(w, v[1])
end
#value: y = [7.0, 1.0]
#value: n = 4
#value: b = false
