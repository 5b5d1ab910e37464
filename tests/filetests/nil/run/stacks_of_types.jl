# The host's stacks for numbers of one type each: each is a stack of its own.
#args: 1.5,2.5,7
@i function f(x, y, n)
    FLOAT64_STACK[end+1] ← x
    GLOBAL_STACK[end+1] ← y
    INT64_STACK[end+1] ← n
    a ← 2 * x
    FLOAT64_STACK[end+1] ↔ a::Float64
    PUSH!(INT64_STACK, n)
    n += 1
    NiLang.FLOAT64_STACK[end] ↔ (b::Float64)::∅
    x += b
    GLOBAL_STACK[end] → y
    b → 3.0
    n -= 1
    POP!(INT64_STACK, n)
    INT64_STACK[end] → n
    x -= 3.0
    FLOAT64_STACK[end] → x
    x += 10
end
#value: x = 11.5
#value: n = 7
