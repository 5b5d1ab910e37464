# A number that stands for dimensions or for the parts of a tuple is no value.
#args: 1,[1.0],1.0,2.0
#entry: f
using NiLang
@i function dimensions(y::Int, x::AbstractArray{Float64,N}) where N
    y += N #! P0430 there is no `N` here @ N
end
@i function parts(y::Int, t::NTuple{N,Float64}) where N
    y += N #! P0430 there is no `N` here @ N
end
@i function f(y, x, a, b)
    dimensions(y, x)
    parts(y, (a, b))
end
