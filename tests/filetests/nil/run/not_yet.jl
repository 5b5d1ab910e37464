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
@i function product(y::Float64, v::Vector{Float64})
    y += prod(v) #! P0435 `product` cannot be used: `prod` takes 2 arguments, found 1
end
@i function greatest(y::Float64, v::Vector{Float64})
    y += maximum(v) #! P0433 `greatest` cannot be used: there is no function `maximum`
end
@i function shifted(n::Int)
    n += plshift(n, 3) #! P0433 `shifted` cannot be used: there is no function `plshift`
end
@i function by_one(z::ComplexF64)
    INC(z) #! P0431 `by_one` cannot be used: `INC` is for numbers, found Complex{Float64}
end
@i function mixed(z::ComplexF64, w::ComplexF64)
    HADAMARD(z, w) #! P0431 `mixed` cannot be used: `ROT` turns two real numbers
end
@i function powers(z::ComplexF64, w::ComplexF64)
    z += w^w #! P0431 `powers` cannot be used: complex numbers are raised to powers that are whole numbers, up to 64
end
@i function added(x::Float64)
    AddConst(4.0)(x) #! P0433 `added` cannot be used: there is no function `AddConst`
end
@i function tables(y::Float64)
    y += TABLE[1, 1] #! P0430 `tables` cannot be used: there is no `TABLE` here
end
@i function made_tropical(y::Float64)
    t ← Tropical(y) #! P0433 `made_tropical` cannot be used: there is no function `Tropical`
    t → Tropical(y)
end
@i function zero_tropical(y::Float64)
    t ← zero(Tropical) #! P0430 `zero_tropical` cannot be used: there is no `Tropical` here
    t → zero(Tropical)
end
@i function keywords_of_host(y::Float64, x::Float64)
    y += power(x; k=4) #! P0435 `keywords_of_host` cannot be used: `power` takes no keywords
end
@i function nothing_given(x::Float64)
    gave(x, nothing) #! P0430 `nothing_given` cannot be used: there is no `nothing` here
end
@i function pairs(t::Tuple{Float64,Float64}, u::Tuple{Float64,Float64})
    t .+= u #! P0431 `pairs` cannot be used: `.+=` and its kin change arrays
end
@i function pairs_called(t::Tuple{Float64,Float64}, u::Tuple{Float64,Float64})
    SWAP.(t, u) #! P0431 `pairs_called` cannot be used: a call with a point goes over arrays
end
@i function sums(t::Tuple{Float64,Vector{Float64}}, u::Tuple{Float64,Vector{Float64}})
    t += u #! P0447 `sums` cannot be used: (Float64, Vector{Float64}) is not changed as a whole
end
@i function from_the_end(y::Float64, v::Vector{Float64})
    for x in reverse(v) #! P0433 `from_the_end` cannot be used: there is no function `reverse`
        y += x
    end
end
@i function arrays(v::Vector{Float64}, w::Vector{Float64})
    SWAP(v, w) #! P0447 `arrays` cannot be used: an array is not changed as a whole
end
@i function short_number(y::Float64)
    t ← 0f0 #! P0430 `short_number` cannot be used: there is no `f0` here
    t → 0f0
end
@i function good(x)
    x += 1.0
end
#value: x = 2.0
