# How reversible functions are defined, and which definition a call means.
using NiLang, Test

"""
A text before a function says what it is for.
"""
@i function documented(x)
    x += 1
end

module Inner
using NiLang
@i function deeper(x)
    x += 5
end
end

@testset "forms" begin
    @i @inline function marked(y, x)
        y += x
    end
    @i function empty(x)
    end
    @i function idle(x)
        nothing
    end
    @i function unnamed(::Int, x)
        x += 1
    end
    @test marked(1, 2) == (3, 2)
    @test check_inv(marked, (1, 2))
    @test empty(2) == 2 && (~empty)(2) == 2
    @test idle(2) == 2 && (~idle)(2) == 2
    @test unnamed(7, 1) == (7, 2) && check_inv(unnamed, (7, 1))
    @test documented(1) == 2 && (~documented)(2) == 1
    @test Inner.deeper(1) == 6 && (~Inner.deeper)(6) == 1
end

@testset "results" begin
    @i function one(x)
        x += 1
    end
    @i function none()
        x ← 1
        x → 1
    end
    @test one(1) == 2
    @test none() == ()
    @test (~none)() == ()
    @test (~one)(2) == 1
    @test (~(~one))(1) == 2
    back = ~one
    @test back(2) == 1 && (~back)(1) == 2
end

@testset "types of parameters" begin
    @i function same(y::T, x::T) where T
        y += x
    end
    @i function bounded(y::T, x::AbstractVector{T}) where {T<:Real}
        for i = 1:length(x)
            y += x[i]
        end
    end
    @i function dims(n, x::AbstractVector)
        n += 1
    end
    @i function dims(n, x::AbstractMatrix)
        n += 2
    end
    @i function dims(n, x::AbstractArray{T,3}) where T
        n += 3
    end
    @i function either(n, x::Union{Int,Bool})
        n += 1
    end
    @i function either(n, x)
        n += 2
    end
    @i function among(n, x::T) where T<:Union{Int,Float64}
        n += one(T)
    end
    @i function depth(n, x::Tuple{<:Real,<:Tuple})
        n += 10
        depth(n, x.:2)
    end
    @i function depth(n, x::Tuple{<:Real,<:Real})
        n += 1
    end
    @i function packed(n, t)
        depth(n, (t.:1, (t.:2, t.:3)))
    end
    @i function shifted(t::NTuple{N,T}, x::T) where {N,T}
        for i = 1:length(t)
            (t |> tget(i)) -= x
        end
    end
    @test shifted((1.0, 2.0, 3.0), 0.5)[1] == (0.5, 1.5, 2.5) && check_inv(shifted, ((1.0, 2.0), 0.5))
    @test same(1.0, 2.0) == (3.0, 2.0)
    @test check_grad(same, (1.0, 2.0); iloss=1)
    @test bounded(1.0, [2.0, 3.0])[1] == 6.0
    @test check_inv(bounded, (1.0, [2.0, 3.0]))
    @test dims(0, [1.0])[1] == 1 && dims(0, [1.0 2.0])[1] == 2 && dims(0, zeros(1, 1, 2))[1] == 3
    @test either(0, true)[1] == 1 && either(0, 1)[1] == 1 && either(0, 1.0)[1] == 2
    @test among(1.0, 2.0)[1] == 2.0
    @test depth(0, (1, (2, 3)))[1] == 11
    @test packed(0, (1, 2, 3)) == (11, (1, 2, 3))
    @test check_inv(packed, (0, (1, 2, 3)))
end

@testset "types as arguments" begin
    @i function of(n, ::Type{Int})
        n += 1
    end
    @i function of(n, ::Type{Float64})
        n += 2
    end
    @i function ones_of(n, t::Type{T}) where T
        n += one(@skip! T)
    end
    @i function of_both(n)
        of(n, Int)
        of(n, Float64)
        ones_of(n, (@skip! Int))
    end
    @test of_both(0) == 4
    @test check_inv(of_both, (0,))
end

@testset "further parameters" begin
    @i function typed(y::Real, x::Float64; k::Int=3)
        y += x * k
    end
    @i function passes(y, x; more...)
        typed(y, x; more...)
    end
    @i function rest(y, args::Int...)
        for i = 1:length(args)
            y += args[i]
        end
    end
    @i function spread(y, args...)
        rest(y, args...)
    end
    @test typed(0.0, 2.0)[1] == 6.0
    @test typed(0.0, 2.0; k=4)[1] == 8.0
    @test passes(0.0, 2.0; k=5)[1] == 10.0
    @test check_inv(passes, (0.0, 2.0); k=5)
    @test rest(0, 1, 2, 3)[1] == 6
    @test spread(0, 1, 2, 3) == (6, 1, 2, 3)
    @test check_inv(spread, (0, 1, 2, 3))
end

struct Couple{T}
    a::T
    b::T
end
half(x) = x / 2
twofold(x) = 2x
flipped(x) = !x

@testset "heads of operators" begin
    @i function :(+=)(half)(y!::Couple, x::Couple)
        y!.a += half(x.a)
        y!.b += half(x.b)
    end
    @i function (:-=)(twofold)(y!::Couple, x::Couple)
        y!.a -= 2 * x.a
        y!.b -= 2 * x.b
    end
    @i function (:⊻=(flipped))(y!::Int, x::Int)
        y! ⊻= x
    end
    @i function (:*=)(half)(y!::ULogarithmic, x::ULogarithmic)
        y!.log += x.log
        y!.log -= log(2.0)
    end
    @i function (:/=)(twofold)(y!::ULogarithmic, x::ULogarithmic)
        y!.log -= x.log
        y!.log -= log(2.0)
    end
    @i function use(y, x, n, m)
        p ← Couple(x, 2 * x)
        q ← Couple(0.0, 0.0)
        q += half(p)
        q += twofold(p)
        y += q.a * q.b
        q -= twofold(p)
        q -= half(p)
        n ⊻= flipped(m)
        q → Couple(0.0, 0.0)
        p → Couple(x, 2 * x)
    end
    @i function logarithms(y, x)
        y *= half(x)
        y /= twofold(x)
        y *= half(x)
    end
    @test use(1.0, 2.0, 6, 3) == (51.0, 2.0, 5, 3)
    @test check_inv(use, (1.0, 2.0, 6, 3))
    @test check_grad(use, (1.0, 2.0, 6, 3); iloss=1)
    @test logarithms(ULogarithmic(3.0), ULogarithmic(4.0))[1].log ≈ log(1.5)
    @test check_inv(logarithms, (ULogarithmic(3.0), ULogarithmic(4.0)))
end

struct Scale{T}
    by::T
end
@i function (s::Scale)(y, x)
    y += s.by * x
end

@testset "objects that are called" begin
    @i function scaled(y, x)
        s ← Scale(3.0)
        s(y, x)
        (~s)(y, x)
        s(y, x)
        s → Scale(3.0)
        Scale(2.0)(y, x)
    end
    @test scaled(1.0, 2.0)[1] == 11.0
    @test check_inv(scaled, (1.0, 2.0))
    @test check_grad(scaled, (1.0, 2.0); iloss=1)
end

function add_to(a!::Number, b::Number)
    a! + b, b
end
function take_from(a!::Number, b::Number)
    a! - b, b
end
@dual add_to take_from
opposite(x::Number) = -x
@selfdual opposite

@testset "dual functions" begin
    @i function both(a, b)
        add_to(a, b)
        add_to(a, b)
        opposite(b)
        (~add_to)(a, b)
        ~take_from(a, b)
    end
    @test both(1.0, 2.0) == (1.0 + 4.0 + 2.0 - 2.0, -2.0)
    @test check_inv(both, (1.0, 2.0))
    @test check_grad(both, (1.0, 2.0); iloss=1)
end

@testset "recursion" begin
    @i function power(out, x, n)
        if (n == 0, ~)
            out += 1.0
        else
            @routine begin
                rest ← 0.0
                power(rest, x, n - 1)
            end
            out += rest * x
            ~@routine
        end
    end
    @test power(0.0, 3.0, 3)[1] == 27.0
    @test check_inv(power, (0.0, 3.0, 3))
    @test check_grad(power, (0.0, 1.5, 3); iloss=1)
end

@testset "functions as parameters" begin
    @i function any_function(g::Function, y, x); y += g(x); y += 1; end
    @i function of_type(g::F, y, v::AbstractVector{<:Real}) where F<:Function
        y += g(v[1])
    end
    @i function both(y, v)
        any_function(sin, y, v[1])
        of_type(cos, y, v)
    end
    @test both(0.0, [1.0])[1] ≈ sin(1.0) + cos(1.0) + 1
    @test check_inv(both, (0.0, [1.0])) && check_grad(both, (0.0, [1.0]); iloss=1)
end

@testset "values as types" begin
    @i function chosen(y, x, ::Val{1})
        y += x
    end
    @i function chosen(y, x, ::Val{2})
        y += x * x
    end
    @i function chosen(y, x, ::Val{:cube})
        y += x^3
    end
    @i function chosen(y, x, ::Val{true})
        y -= x
    end
    @i function scaled(y, x, ::Val{N}) where N
        y += N * x
        for i = 1:N
            y += 1
        end
        if (N == 3, ~)
            y += 100
        end
    end
    @i function dispatched(y, x)
        chosen(y, x, Val(1))
        chosen(y, x, Val(2))
        chosen(y, x, Val(:cube))
        chosen(y, x, Val(true))
        scaled(y, x, Val(3))
        scaled(y, x, Val{2}())
    end
    @test dispatched(0.0, 2.0)[1] == 2.0 + 4.0 + 8.0 - 2.0 + 6.0 + 3.0 + 100.0 + 4.0 + 2.0
    @test check_inv(dispatched, (0.0, 2.0)) && check_grad(dispatched, (0.0, 2.0); iloss=1)
    @i function dims(y::Int, x::AbstractArray{T,N}, t::NTuple{M,Float64}) where {T,N,M}
        y += 10 * N + M
    end
    @i function called(y, x, A)
        dims(y, x, (1.0, 2.0, 3.0))
        dims(y, A, (1.0, 2.0))
    end
    @test called(0, [1.0], [1.0 2.0])[1] == 13 + 22
    @test check_inv(called, (0, [1.0], [1.0 2.0]))
end

@testset "nothing as a value" begin
    @i function logged(y, x; log=nothing)
        y += x
        if (log !== nothing, ~)
            log += x
        end
    end
    @i function given(y, x, t)
        if (t === nothing, ~)
            y += x
        else
            y += t * x
        end
    end
    @i function giver(y, x)
        given(y, x, nothing)
        given(y, x, 3.0)
        none(y, nothing)
    end
    @i function none(y, ::Nothing)
        y += 1
    end
    @i function none(y, x::Real)
        y += x
    end
    @test logged(0.0, 2.0)[1] == 2.0
    @test giver(0.0, 2.0)[1] == 2.0 + 6.0 + 1.0
    @test check_inv(giver, (0.0, 2.0))
    @test check_inv(logged, (0.0, 2.0))
end

@testset "defaults of parameters" begin
    @i function defaulted(y, x, k=2.0)
        y += k * x
    end
    @i function typed(y, x, k::Float64=2, n::Int=3)
        y += k * x + n
    end
    @i function caller(y, x)
        defaulted(y, x)
        defaulted(y, x, 5.0)
        typed(y, x)
        typed(y, x, 1.0)
        typed(y, x, 1.0, 1)
    end
    @test caller(0.0, 2.0)[1] == 4.0 + 10.0 + 7.0 + 5.0 + 3.0
    @test check_inv(caller, (0.0, 2.0)) && check_grad(caller, (0.0, 2.0); iloss=1)
    @test defaulted(0.0, 2.0)[1] == 4.0
    @i function two(y, v::Vararg{Float64,2})
        y += v[1] * v[2]
    end
    @i function two(y, v::Vararg{Float64,3})
        y += v[1] + v[2] + v[3]
    end
    @i function twos(y, a)
        two(y, a, 3.0)
        two(y, a, 3.0, 4.0)
    end
    @test twos(0.0, 2.0)[1] == 6.0 + 9.0
    @test check_inv(twos, (0.0, 2.0))
end
