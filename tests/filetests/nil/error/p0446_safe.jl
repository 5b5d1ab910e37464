# A statement of the host that changes a variable.
@i function f(x::Float64, v::Vector{Float64}, n::Int)
    @safe x = 2.0 #! P0446 this host statement has no meaning here: `x = 2.0` @ @safe x = 2.0
    @safe v[n] .= 2.0 #! P0446 this host statement
    @safe push!(v, 1.0) #! P0446 this host statement
    @safe (a, x) = (1.0, 2.0) #! P0446 this host statement
    @safe n == 2 && println("two") #! P0446 this host statement
    @safe count(m) && return #! P0446 this host statement
    @safe @. w = 2 * w #! P0446 this host statement
    @safe w[1] = 3 #! P0461
end
