# What is more than a rounding error is not cleared.
#args: [0.0,0.0],0.5
using NiLang
@i function f(v::Vector{T}, x::T) where T
    v[2] += x
    @safe v .= zero(T) #! P0103 `v` @ @safe v .= zero(T)
end
