# Constructs of NiLang that are not here: each function is left out, with the reason.
#args: 1.0
#entry: good
using NiLang
macro mine(x) #! P0461 host code is skipped: 5 statements
    esc(:($x += 1))
end
@fieldview first_part(z::Complex) = z.re
@dualtype Up Down
@nograd f(x::Real)
@i short(y, x) = (y += x) #! P0463 this is left out: expected `function` or `struct` after `@i` #! P0463 19 of 39 reversible functions are left out
@i function $made(x) #! P0463 this is left out: the character `$` means nothing here
    x += 1
end
@i function kernel(x)
    @cuda threads=256 kernel(x) #! P0463 `kernel` is left out: the macro `@cuda` is not known
end
@i function launched(x)
    @launchkernel CPU() 4 length(x) kernel(x) #! P0463 `launched` is left out: the macro `@launchkernel` is not known
end
@i function own(x)
    @mine x #! P0463 `own` is left out: the macro `@mine` is not known
end
@i function assigned(x)
    @assign x 2 #! P0463 `assigned` is left out: the macro `@assign` is not known
end
@i function minus(x)
    -(x) #! P0463 `minus` is left out: this is an expression, not a statement
end
@i function dotted(x, y)
    x.[1:2] .+= y #! P0463 `dotted` is left out: expected a field's name, found `[`
end
@i function piped(t, u)
    (t .|> NEG) .+= u #! P0463 `piped` is left out: `.|>` is an expression of the host language, not of Nil
end
@i function retyped(v)
    (Int => Float64).(v) #! P0463 `retyped` is left out: expected `(` and what is to be converted, found `.`
end
@i function allocated(y, x)
    @auto_alloc i_sum(s, x) #! P0463 `allocated` is left out: the macro `@auto_alloc` is not known
end
@i function partial(z)
    (z |> Partial{:im}) += 1.0 #! P0463 `partial` is left out: expected a type, found `:`
end
@i function inverted(a, x)
    if (protectf(a) isa Inv, ~) #! P0463 `inverted` is left out: `isa` is an expression of the host language, not of Nil
        x += 1
    end
end
@i function composed(y, x)
    (f ∘ g)(y, x) #! P0463 `composed` is left out: the character `∘` means nothing here
end
@i function equal(x)
    x = 2 #! P0463 `equal` is left out: `=` forgets what was there before
end
@i function returned(x)
    return x #! P0463 `returned` is left out: `return` is not allowed in a reversible function
end
@i function tried(x)
    try #! P0463 `tried` is left out: `try` is not allowed in a reversible function
        x += 1
    catch
    end
end
@i function collected(x, v)
    x += sum([w^2 for w in v]) #! P0463 `collected` is left out: a comprehension is an expression of the host language, not of Nil
end
@i function paired(y, v)
    for (i, x) in enumerate(v) #! P0463 `paired` is left out: expected a loop variable, found `(`
        y += i * x
    end
end
@i function one_condition(n::Int)
    while (n > 5, ~) #! P0441 `one_condition` cannot be used: this loop has no postcondition
        n -= 1
    end
end
@i function recurrence(y::Float64)
    y ← sin(y) #! P0439 `recurrence` cannot be used: `y ← sin(y)` would forget the value that `y` has #? keep all values in an array
end
@i function gradients(y::Float64, x::Float64)
    y += x |> grad #! P0446 `gradients` cannot be used: the gradient of a variable cannot be used inside a program
end
@i function carried(x::Float64)
    GVar(x) #! P0433 `carried` cannot be used: there is no reversible function `GVar`
end
@i function wrapped(x::Float64)
    a ← NoGrad(x) #! P0433 `wrapped` cannot be used: there is no function `NoGrad`
    a → NoGrad(x)
end
@i function text(x::Float64)
    t ← "" #! P0431 `text` cannot be used: a text has no value here
    t → ""
end
@i function keyed(d::Dict{String,Int})
    d["a"] ← 1 #! P0431 `keyed` cannot be used: a text has no value here
end
@i function part_of_dictionary(x::Float64)
    d ← Dict{Int,Float64}()
    d[7]::∅ ↔ x #! P0447 `part_of_dictionary` cannot be used: this has a value already
end
@i function viewed(z::ComplexF64)
    (z |> first_part) += 1.0 #! P0433 `viewed` cannot be used: `first_part` is not for complex numbers
end
@i function taken(x::Float64)
    GLOBAL_STACK[end] ↔ (A::Vector{Float64})::∅ #! P0446 `taken` cannot be used: an array is not taken from a stack as a whole
end
@i function checkpoints(y::Float64, x::Float64)
    bennett(wrapped, y, x; k=2, N=4) #! P0433 `checkpoints` cannot be used: there is no reversible function `bennett`
end
@i function determinant(y::Float64, A::Matrix{Float64})
    y += det(A) #! P0433 `determinant` cannot be used: there is no function `det`
end
@i function inverse(A::Matrix{Float64}, B::Matrix{Float64})
    i_inv!(A, B) #! P0433 `inverse` cannot be used: there is no reversible function `i_inv!`
end
@i function mapped(v::Vector{Float64})
    i_map!(sin, v) #! P0433 `mapped` cannot be used: there is no reversible function `i_map!`
end
@i function retype_at_end(x::Float64)
    t ← 1
    t → 1.0 #! P0431 `retype_at_end` cannot be used: Int is expected here, found Float64
end
@i function forgets(x::Float64)
    x *= 2.0 #! P0442 `forgets` cannot be used: `*=` forgets on Float64
end
@i function unknown_end(x::Float64)
    t → 1.0 #! P0430 `unknown_end` cannot be used: there is no `t` to deallocate
end
@i function closes(y::Float64, x::Vector{Float64})
    k ← 2.0
    y += sum(v -> v * k, x) #! P0430 `closes` cannot be used: there is no `k` here
    k → 2.0
end
function rises(x)
    if x > 0
        return x * 2
    end
    return x / 2
end
falls(x) = x / 2
@dual rises falls
@i function dual(x::Float64)
    rises(x) #! P0433 `dual` cannot be used: there is no reversible function `rises`
end
@i function good(x)
    x += 1.0
end
#value: x = 2.0
