# Structs inside of the host's blocks, other names for types, and errors that the host raises.
#args: [1.0,2.0],(3.0,4.0)
#entry: f
@testset "types" begin #! P0461 host code is skipped: 1 statement
    struct Scale{T}
        by::T
        offset::T
    end
    @i function f(x::Numbers{Float64}, s::Scale{T}) where T
        @safe if length(x) != 2
            throw(DimensionMismatch("two numbers"))
        end
        for i = 1:2
            x[i] += s.by * s.offset
        end
    end
end
const Numbers{T} = Vector{T}
#value: x = [13.0, 14.0]
#grad: x[2] x[2]=1 s.by=4 s.offset=3
