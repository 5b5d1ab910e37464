# A sparse matrix as an argument: its fields are those of the host's.
#args: 0.0,(2,2,[1,3,4],[1,2,2],[3.0,5.0,4.0]),[1.0,2.0]
#entry: f
using NiLang, SparseArrays
@i function f(r::T, A::SparseMatrixCSC{T}, x::Vector{T}) where T
    @safe @assert A.n == length(x)
    for j = 1:size(A, 2)
        for k = A.colptr[j]:A.colptr[j+1]-1
            r += A.nzval[k] * x[A.rowval[k]]
        end
    end
end
#value: r = 21.0
#grad: r A.nzval[1]=1 A.nzval[2]=2 A.nzval[3]=2 x[1]=3 x[2]=9
