# Structs whose fields have no type, or a set of types: that of the value.
#args: 0.0,(1.0,2)
#entry: f
struct Pair
    a
    b::Integer
end
struct Named{T}
    x::T
    y::Any
end
@i function f(y, p::Pair)
    q ← p
    q.a += 1.0
    y += q.a * q.b
    q.a -= 1.0
    q → Pair(1.0, 2)
    n ← Named(2.0, true)
    if n.y
        y += n.x
    end
    n → Named(2.0, true)
end
#value: y = 6.0
