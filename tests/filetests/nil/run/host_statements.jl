# What belongs to the host: statements after `@safe` that change no variable, views, references, indices beyond the dimensions of an array.
#args: 0.0,[1.0,2.0],[1.0 2.0; 3.0 4.0]
#entry: f
COUNTER = Ref(0) #! P0461 host code is skipped: 1 statement; `-v` lists them
@i function inner(y, v)
    @safe COUNTER[] += 1 #! P0461 the host statement `@safe COUNTER[] += 1` is skipped
    for k = 1:size(v, 2)
        for i = 1:size(v, 1)
            y += v[i, k]
        end
    end
end
@i function f(y, v, A)
    inner(y, v)
    inner(y, view(A, :, 2))
    @safe if COUNTER[] > 1 #! P0461
        log(COUNTER)
    end
    z ← zero(real(Complex{Float64}))
    z += y
    z -= y
    z → zero(Float64)
end
#value: y = 9.0
