# `@safe x .= 0` clears a rounding error that is left, as where a variable ends.
#drift
#args: [0.0,0.0],0.0,0.0,0.1
using NiLang
@i function f(v::Vector{T}, r, s!, x::T) where T
    for i = 1:length(v)
        v[i] += x
        v[i] += 0.2
        s! += v[i]
        v[i] -= 0.3
    end
    r += x
    r -= 0.1
    @safe v .= zero(T)
    # An element ends like a variable.
    v[1] ← x
    v[1] += 0.7
    v[1] -= 0.7
    v[1] → x
    @safe r = 0
    @safe t = v[1] #! P0461 the host statement `@safe t = v[1]` is skipped
    @safe @show s!, x
end
#shown: 0.6000000000000001
#shown: 0.1
#value: v = [0.0, 0.0]
