# The host's stack: a variable is pushed and has no value then.
#args: 3.0
@i function f(x::Float64)
    x2 ← zero(x)
    x2 += x^2
    GLOBAL_STACK[end+1] ↔ x
    y ← 1.5
    PUSH!(GLOBAL_STACK, y)
    POP!((@skip! GLOBAL_STACK), y)
    y → 1.5
    GLOBAL_STACK[end] ↔ (old::Float64)::∅
    x::∅ ↔ x2
    x += old
    x2::∅ ↔ x
    x2 -= old
    old2::∅ ↔ old
    x::∅ ↔ x2
    x -= old2^2
    x ↔ old2
    old2 → 0.0
end
#value: x = 3.0
