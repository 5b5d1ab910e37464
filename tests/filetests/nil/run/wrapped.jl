# A file of the host's language: a module around the functions, and a program that calls them.
module Wrapped
using NiLang
export norm2! #! P0461 host code is skipped: 3 statements; `-v` lists them

"""
The sum of squares.
"""
@i @inline function norm2!(y!::T, x::AbstractVector{T}) where T
    for i in eachindex(x)
        y! += x[i]^2
    end
end
#args: 0.0,[3.0,4.0]
end
using .Wrapped
y, x = norm2!(0.0, [3.0, 4.0])
@assert y == 25.0
#value: y! = 25.0
