# Functions of arrays, functions as values, names of modules, constants, and what a variable may begin with.
using NiLang, NiLang.AD, Test

const WEIGHTS = [1.0, 2.0, 3.0]
const PAIR = (1.0, 2.0)
const HALF = 1 / 2

power(x; k=2) = x^k
scaled(x, by=3.0; plus=0.0) = by * x + plus

module Tools
using NiLang
@i function raise(y, x)
    y += 2 * x
end
end

@testset "functions of arrays" begin
    @i function reduced(y, v, w, A)
        y += sum(v)
        y += sum(abs2, v)
        y += dot(v, w)
        y += norm(v)
        y += sum(A |> vec)
    end
    @i function asked(n, v, y)
        if (iszero(y) && !isempty(v), ~)
            n += mod1(7, 3)
        end
        n += argmax(v)
        n += length(v) * size(v, 1)
    end
    v, w, A = [3.0, 4.0], [1.0, 2.0], [1.0 2.0]
    @test reduced(0.0, v, w, A)[1] == 7.0 + 25.0 + 11.0 + 5.0 + 3.0
    @test check_inv(reduced, (0.0, v, w, A)) && gradient(reduced, (0.0, v, w, A); iloss=1)[2] ≈ 1 .+ 2v + w + v / 5.0
    @test asked(0, v, 0.0)[1] == 1 + 2 + 4
    @test check_inv(asked, (0, v, 0.0))
end

@testset "instructions as values" begin
    @i function turn(f, a, b, t)
        f(a, b, t)
        (~f)(a, b, t)
        f(a, b, t)
    end
    @i function turns(a, b, t)
        turn(ROT, a, b, t)
        turn(~ROT, a, b, t)
        turn((@skip! ROT), a, b, t)
        turn(PlusEq(*), a, b, t)
    end
    @test turns(1.0, 0.0, 0.3)[1] ≈ cos(0.3) + sin(0.3) * 0.3
    @test check_inv(turns, (1.0, 0.0, 0.3)) && check_grad(turns, (1.0, 0.0, 0.3); iloss=1)
    h = PlusEq(sin)
    @test h(1.0, 0.0) == (1.0, 0.0) && (~h)(1.0, 0.5)[1] == 1.0 - sin(0.5)
    @test check_inv(MinusEq(exp), (1.0, 0.5)) && check_inv(XorEq(identity), (5, 3))
    x, y, z = ULogarithmic(2.0), ULogarithmic(6.0), ULogarithmic(3.0)
    @test DivEq(identity)(y, z)[1].log ≈ log(2.0) && MulEq(*)(x, y, z)[1].log ≈ log(36.0)
    @test check_inv(MulEq(+), (x, y, z))
end

@testset "names of modules" begin
    @i function named(y, x)
        y += Base.exp(x)
        y -= Base.Math.sin(x)
        Tools.raise(y, x)
        NiLang.SWAP(y, x)
        Main.Tools.raise(x, y)
    end
    @test named(0.0, 1.0)[2] ≈ exp(1.0) - sin(1.0) + 4.0
    @test check_inv(named, (0.0, 1.0))
end

@testset "constants" begin
    @i function weighted(y, x)
        for i = 1:length(WEIGHTS)
            y += WEIGHTS[i] * x
        end
        y += PAIR[1] * x + PAIR.:2
        y += HALF
        y -= 2π
        y += log(2 * π) / 2
    end
    @test weighted(0.0, 2.0)[1] ≈ 12.0 + 2.0 + 2.0 + 0.5 - 2π + log(2π) / 2
    @test check_inv(weighted, (0.0, 2.0)) && gradient(weighted, (0.0, 2.0); iloss=1)[2] == 7.0
end

@testset "first values" begin
    @i function arrays(y, x)
        v ← [x, 2.0]
        w ← copy(v)
        A ← zeros(2, 2)
        t ← (x, 1.0)
        z ← zero(v)
        A[1, 2] += x
        z .+= v .* w
        y += sum(z) * A[1, 2] + t.:1
        z .-= v .* w
        A[1, 2] -= x
        z → zero(v)
        t → (x, 1.0)
        A → zeros(2, 2)
        w → copy(v)
        v → [x, 2.0]
    end
    @i function zeros_of(y, a::T, b::T) where T
        z ← Complex{T}(a, b)
        u ← _zero(z)
        v ← _zero(typeof(y))
        o ← one(T)
        u += z * z
        v += real(u) * o
        y += v
        v -= real(u) * o
        u -= z * z
        o → one(T)
        v → _zero(typeof(y))
        u → _zero(z)
        z → Complex{T}(a, b)
    end
    @i function series(y::T, x::T) where T
        @routine begin
            N ← 3
            t ← zeros(T, N)
            s ← T(2.0)
            t[1] += 1
            for i = 2:N
                t[i] += t[i-1] * x / i
                s += t[i]
            end
        end
        y += s |> value
        ~@routine
    end
    @test series(0.0, 3.0)[1] == 2.0 + 1.5 + 1.5 && check_inv(series, (0.0, 3.0))
    @test gradient(series, (0.0, 3.0); iloss=1)[2] == 1.5
    @test arrays(0.0, 3.0)[1] == 13.0 * 3.0 + 3.0
    @test check_inv(arrays, (0.0, 3.0)) && gradient(arrays, (0.0, 3.0); iloss=1)[2] == 3 * 9.0 + 4.0 + 1.0
    @test zeros_of(0.0, 3.0, 4.0)[1] == -7.0
    @test check_inv(zeros_of, (0.0, 3.0, 4.0)) && gradient(zeros_of, (0.0, 3.0, 4.0); iloss=1) == (1.0, 6.0, -8.0)
end

@testset "references" begin
    @i function counted(n, x)
        n[] += x
    end
    @i function squared(y, x)
        t ← Ref(0.0)
        counted(t, x)
        y += t[]^2
        ~counted(t, x)
        t → Ref(0.0)
    end
    @test counted(3, 4)[1] == 7
    @test squared(0.0, 3.0)[1] == 9.0
    @test check_inv(squared, (0.0, 3.0)) && gradient(squared, (0.0, 3.0); iloss=1)[2] == 6.0
end

@testset "cleared rounding errors" begin
    @i function cleared(x, v)
        @safe v .= 0.0
        x += v[1]
    end
    @i function turned(y, x)
        t ← zeros(2)
        t[1] += sin(x)
        t[1] += cos(x)
        y += t[1]
        t[1] -= sin(x)
        t[1] -= cos(x)
        @safe t .= 0
        t → zeros(2)
    end
    @test cleared(1.0, [0.0, 1e-12])[2] == [0.0, 0.0]
    @test_throws InvertibilityError cleared(1.0, [1.0, 1e-12])
    @test turned(1.0, 0.7)[1] ≈ 1.0 + sin(0.7) + cos(0.7)
    @test check_inv(turned, (1.0, 0.7)) && check_grad(turned, (1.0, 0.7); iloss=1)
end

@testset "four dimensions" begin
    @i function f(y, T)
        for i = 1:size(T, 4)
            y += T[1, 2, 1, i]
            T[2, 1, 1, i] += y
        end
    end
    x = ones(2, 2, 2, 2)
    @test f(0.0, copy(x))[1] == 2.0 && sum(f(0.0, copy(x))[2]) == 19.0
    @test check_inv(f, (0.0, x))
    @i function within(y, x)
        A ← zeros(Float64, 2, 1, 2, 2)
        A .+= x
        A[2, 1, :, 1] .+= x
        y += sum(A)
        A[2, 1, :, 1] .-= x
        A .-= x
        A → zeros(Float64, 2, 1, 2, 2)
    end
    @test within(0.0, 3.0)[1] == 30.0
    @test check_inv(within, (0.0, 3.0)) && check_grad(within, (0.0, 3.0); iloss=1)
end

@testset "sums of structures" begin
    @i function both(a, b)
        a += b
    end
    @test both((1.0, 2.0), (3.0, 4.0))[1] == (4.0, 6.0)
    @test check_inv(both, ((1.0, 2.0), (3.0, 4.0)))
end

@testset "gradients" begin
    @i function product(y, a, v; k=1.0)
        y += k * a * v[1] * v[2]
    end
    @test gradient(product, (0.0, 2.0, [3.0, 4.0]); iloss=1) == (1.0, 12.0, [8.0, 6.0])
    @test gradient(product, (0.0, 2.0, [3.0, 4.0]); iloss=1, k=2.0) == (1.0, 24.0, [16.0, 12.0])
    @test NiLang.AD.gradient(Val(1), product, (0.0, 2.0, [3.0, 4.0])) == (1.0, 12.0, [8.0, 6.0])
    @test check_grad(product, (0.0, 2.0, [3.0, 4.0]); iloss=1, verbose=true)
    @test check_inv(product, (0.0, 2.0, [3.0, 4.0]); atol=1e-12, k=0.5)
end

@testset "values in statements" begin
    @i function values(y, n, b)
        y += ifelse(n > 0, n, -n)
        y += n > 0 ? 2 : 1
        y += max(n, 0, 1)
        y += b
        y += 0x10 + 0b11 + 1_000
    end
    @i function add(y, n)
        y += n
    end
    @i function arguments(y, n)
        add(y, (@const n + 1))
        add(y, n * 2)
        add(y, -n)
        y += @skip! n - 1
        y += @const n
    end
    @test values(0, -3, true)[1] == 3 + 1 + 1 + 1 + 16 + 3 + 1000
    @test check_inv(values, (0, -3, true))
    @test arguments(0, 3)[1] == 4 + 6 - 3 + 2 + 3
    @test check_inv(arguments, (0, 3))
end

@testset "reductions" begin
    @i function most(y, z, v, A)
        y += 2 * maximum(v)
        y -= minimum(v)
        y += maximum(abs2, v) + minimum(A) + maximum((1.0, v[1], 2.0))
        z += prod(v)
        z += prod(abs2, v) + prod((2.0, v[1]))
    end
    @i function whole(n, m, k, z, w)
        n += prod(k) + maximum(k)
        m += minimum(k) + minimum(abs, k)
        z += prod(w)
    end
    v, A = [3.0, -4.0, 0.0], [1.0 2.0; 0.5 7.0]
    @test most(0.0, 0.0, v, A)[1] == 6.0 + 4.0 + 16.0 + 0.5 + 3.0
    @test most(0.0, 0.0, v, A)[2] == 6.0 && most(0.0, 0.0, [2.0], A)[2] == 2.0 + 4.0 + 4.0
    @test check_inv(most, (0.0, 0.0, v, A)) && check_grad(most, (0.0, 0.0, [1.0, -2.0], A); iloss=2)
    @test gradient(most, (0.0, 0.0, v, A); iloss=1)[3] == [3.0, -9.0, 0.0]
    @test gradient(most, (0.0, 0.0, v, A); iloss=1)[4] == [0.0 0.0; 1.0 0.0]
    @test gradient(most, (0.0, 0.0, v, A); iloss=2)[3] == [2.0, 0.0, -12.0]
    @test whole(0, 0, [3, -2, 4], 0.0im, [1.0 + 1.0im, 2.0im]) == (-20, 0, [3, -2, 4], -2.0 + 2.0im, [1.0 + 1.0im, 2.0im])
    @test check_inv(whole, (0, 0, [3, -2, 4], 0.0im, [1.0 + 1.0im, 2.0im]))
    @test_throws InvertibilityError most(0.0, 0.0, Float64[], A)
end

@testset "keywords of the host" begin
    @i function hosted(y, x)
        y += power(x; k=3)
        y += power(x)
        y += scaled(x) + scaled(x, 2.0; plus=x) + scaled(x; plus=1)
    end
    @test hosted(0.0, 2.0)[1] == 8.0 + 4.0 + 6.0 + 6.0 + 7.0
    @test check_inv(hosted, (0.0, 2.0)) && check_grad(hosted, (0.0, 2.0); iloss=1)
end
