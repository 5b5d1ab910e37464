# Constructs of NiLang that could be here and are not yet: each function is left out, with the reason.
#args: 1.0
#entry: good
using NiLang
const TABLE = [1.0 2.0; 3.0 4.0] #! P0461 host code is skipped: 2 statements
power(x; k=2) = x^k
@i function dispatched(y::Float64)
    y += Val(1) #! P0433 `dispatched` cannot be used: there is no function `Val`
end
@i function counted(n::Int)
    (n |> INC) += 1 #! P0433 `counted` cannot be used: there is no function `INC`
end
@i function flipped(b::Bool)
    (b |> FLIP) ⊻= true #! P0433 `flipped` cannot be used: there is no function `FLIP`
end
@i function powers(z::ComplexF64, w::ComplexF64)
    z += w^w #! P0431 `powers` cannot be used: complex numbers are raised to powers that are whole numbers, up to 64
end
@i function tables(y::Float64)
    y += TABLE[1, 1] #! P0430 `tables` cannot be used: there is no `TABLE` here
end
@i function keywords_of_host(y::Float64, x::Float64)
    y += power(x; k=4) #! P0435 `keywords_of_host` cannot be used: `power` takes no keywords
end
@i function nothing_given(x::Float64)
    gave(x, nothing) #! P0430 `nothing_given` cannot be used: there is no `nothing` here
end
@i function from_the_end(y::Float64, v::Vector{Float64})
    for x in reverse(v) #! P0433 `from_the_end` cannot be used: there is no function `reverse`
        y += x
    end
end
@i function short_number(y::Float64)
    t ← 0f0 #! P0430 `short_number` cannot be used: there is no `f0` here
    t → 0f0
end
@i function good(x)
    x += 1.0
end
#value: x = 2.0
