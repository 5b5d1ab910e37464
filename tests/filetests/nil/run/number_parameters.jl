# A number that stands for dimensions, for the parts of a tuple, or for a value, is one; conditions on it are decided before the run.
#args: 1,[1.0],1.0,2.0
#entry: f
using NiLang
@i function dimensions(y::Int, x::AbstractArray{Float64,N}) where N
    y += N
end
@i function parts(y::Int, t::NTuple{N,Float64}) where N
    if (N == 2, ~)
        y += 10 * N * length(t)
    else
        y += t[3]
    end
end
@i function valued(y::Int, x, ::Val{N}) where N
    for i = 1:N
        y += 100
    end
end
@i function valued(y::Int, x, ::Val{:none})
    y += 1000
end
@i function f(y, x, a, b)
    dimensions(y, x)
    parts(y, (a, b))
    parts(y, (1.5, 2.5))
    valued(y, x, Val(3))
    valued(y, x, Val(:none))
end
#value: y = 1382
