# Loops around `@eval`: what they define is read once for each value.
#args: 0.0,(1.0,2.0,3.0),(5.0,1.0,0.5)
#entry: f
struct V3{T}
    x::T
    y::T
    z::T
end
for OP in [:+, :-]
    @eval @i @inline function :(+=)($OP)(y!::V3, v::V3, w::V3)
        y!.x += $OP(v.x, w.x)
        y!.y += $OP(v.y, w.y)
        y!.z += $OP(v.z, w.z)
    end
end
for (NAME, F) in [(:of_sine, :sin), (:of_root, :sqrt)]
    for T in (Float64, Int)
        @eval @i function $NAME(y::Float64, x::$T)
            y += $F(x)
        end
    end
end
@i @eval function :(+=)(total)(y!::Real, v::V3)
    y! += v.x
    y! += v.y
    y! += v.z
end
@i function f(y, a::V3, b::V3)
    @routine begin
        c ← zero(a)
        c += a + b
        d ← zero(a)
        d += c - a
    end
    y += total(c)
    y += 100 * d.x
    of_root(y, d.y)
    of_sine(y, 0)
    ~@routine
end
#value: y = 513.5
#grad: y y=1 a.x=1 a.y=1 a.z=1 b.x=101 b.y=1.5 b.z=1
