# An array moves to a stack as a whole, element by element; of one that grows, its length follows.
#args: [1.0 2.0; 3.0 4.0],0.0
using NiLang
@i function f(A::Matrix{T}, y!) where T
    m, n ← size(A)
    B ← zeros(T, m, n)
    xs ← T[]
    B += A
    for i = 1:m
        xs[end+1] ← A[i, 1]
    end
    y! += B[1, 2] + xs[end]
    FLOAT64_STACK[end+1] ↔ xs::Vector{T}
    GLOBAL_STACK[end+1] ↔ B
    c ← copy(A)
    GLOBAL_STACK[end+1] ↔ c
    d ← [1.0, y!]
    GLOBAL_STACK[end+1] ↔ d
    m, n → size(A)
end
#value: y! = 5.0
