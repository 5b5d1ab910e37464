# A reference of the host is what it refers to.
#args: 0.0,3.0,(2,1.5)
#entry: f
struct Counted{T}
    step::Ref{Int}
    x::T
end
@i function f(y, x, c::Counted)
    y += x[] * c.x
    c.step[] += 1
    x[] += y
end
#value: y = 4.5
#value: x = 7.5
#value: c.step = 3
