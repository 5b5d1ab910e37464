# Complex, logarithmic, tropical and fixed-point numbers, functions of numbers, and conversions.
using NiLang, NiLang.AD, Test

@testset "complex arithmetic" begin
    @i function sums(y, a, b, r)
        y += a + b
        y -= a - r
        y += r * b
        y += a * b
        y -= a / b
        y += b / r
        y += complex(r, 2.0)
        y += r
        y += inv(a)
    end
    @i function functions(y, r, a)
        y += exp(a)
        y -= log(a)
        y += a^2
        y -= conj(a)^3
        y -= conj(a)
        r += abs(a)
        r -= abs2(a)
        r += angle(a)
        r -= real(a) * imag(a)
    end
    y, a, b, r = 1.0 + 1.0im, 0.5 + 0.2im, 0.8 - 2.0im, 1.5
    @test sums(y, a, b, r)[1] ≈ y + a + b - a + r + r * b + a * b - a / b + b / r + r + 2.0im + r + 1 / a
    @test check_inv(sums, (y, a, b, r))
    c = conj(a)
    @test functions(y, r, a)[1] ≈ y + exp(a) - log(a) + a * a - c * c * c - c
    @test functions(y, r, a)[2] ≈ r + abs(a) - abs2(a) + angle(a) - 0.1
    @test check_inv(functions, (y, r, a))
end

@testset "complex instructions" begin
    @i function all_of(a, b, x)
        NEG(a)
        SWAP(a, b)
        CONJ(a)
        x += abs2(a)
        x += 2.0 * b.im
    end
    @test all_of(0.5 + 0.25im, 1.0 - 2.0im, 0.0) == (1.0 + 2.0im, -0.5 - 0.25im, 4.5)
    @test check_inv(all_of, (0.5 + 0.2im, 0.8 - 2.0im, 0.0))
    @i function loss(l, re, im)
        a ← Complex{}(re, im)
        b ← Complex{}(im, 2 * re)
        NEG(a)
        CONJ(b)
        l += abs(a * b)
        CONJ(b)
        NEG(a)
        b → Complex{}(im, 2 * re)
        a → Complex{}(re, im)
    end
    a, b = (1.0 + 2.0im), (2.0 + 2.0im)
    @test loss(0.0, 1.0, 2.0)[1] ≈ abs(a * b)
    @test check_inv(loss, (0.0, 1.0, 2.0)) && check_grad(loss, (0.0, 1.0, 2.0); iloss=1)
end

@testset "logarithmic numbers" begin
    @i function product(l, x)
        p ← one(ULogarithmic{Float64})
        p *= convert(x)
        p *= convert(x)
        p /= ULogarithmic(2.0)
        l += log(p)
        p *= ULogarithmic(2.0)
        p /= convert(x)
        p /= convert(x)
        p → one(ULogarithmic{Float64})
    end
    @i function sums(z, x, y)
        z *= x + y
        z *= x - y
        z *= x^3.4
        z *= 3
        z /= x * y
    end
    @i function logs(z, x)
        z.log += x.log
    end
    z, x, y = ULogarithmic(2.0), ULogarithmic(5.0), ULogarithmic(3.0)
    @test product(0.0, 3.0)[1] ≈ log(4.5)
    @test check_inv(product, (0.0, 3.0))
    @test check_grad(product, (0.0, 3.0); iloss=1)
    @test sums(z, x, y)[1].log ≈ log(2.0 * 8.0 * 2.0 * 5.0^3.4 * 3 / 15.0)
    @test check_inv(sums, (z, x, y))
    @test logs(z, x)[1].log ≈ log(10.0)
end

@testset "tropical numbers" begin
    @i function best(y, x)
        @routine begin
            t ← one(Tropical{Float64})
            s ← one(Tropical{Float64})
            u ← zero(Tropical{Float64})
            t.n += x
            s *= t + one(Tropical{Float64})
            s *= t * t
        end
        y += content(s)
        y += s.n
        ~@routine
    end
    @test best(0.0, 3.0)[1] == 18.0 && best(0.0, -3.0)[1] == -12.0
    @test check_inv(best, (0.0, 3.0)) && check_grad(best, (0.0, 3.0); iloss=1)
end

@testset "fixed-point numbers" begin
    @i function kept(y, x)
        y += x / 2
        y -= exp(x)
        y += sin(x) * x
        y += x^2
    end
    @test check_inv(kept, (Fixed43(2.0), Fixed43(0.5)))
    @test kept(Fixed43(2.0), Fixed43(0.5))[1] ≈ 2.5 - exp(0.5) + sin(0.5) / 2
    @test check_grad(kept, (Fixed43(2.0), Fixed43(0.5)); iloss=1)
    @i function one(x)
        NEG(x)
        INC(x)
        DEC(x)
    end
    @i function between(y::Fixed43, x::Fixed43)
        t ← Fixed43(0.0)
        u ← zero(Fixed43)
        t += x
        u -= t
        y += u
        u += t
        t -= x
        u → zero(Fixed43)
        t → Fixed43(0.0)
    end
    @test between(Fixed43(1.0), Fixed43(0.25))[1] == Fixed43(0.75)
    @test one(Fixed43(2.0)) == Fixed43(-2.0)
    @test check_inv(one, (Fixed43(2.0),))
end

@testset "conversions" begin
    @i function counts(y, n)
        y += convert(n)
        y += Float64(n) / 2
    end
    @i function retyped(y, n)
        t ← 0
        t += n
        (Int => Float64)(t)
        y += t / 2
        (Float64 => Int)(t)
        t -= n
        t → 0
    end
    @test counts(0.0, 3)[1] == 4.5
    @test check_inv(counts, (0.0, 3))
    @test retyped(0.0, 3) == (1.5, 3)
    @test check_inv(retyped, (0.0, 3))
end

@testset "functions of one number" begin
    @i function all_of(y, x)
        y += tan(x) + asin(x) + acos(x)
        y += sinh(x) * cosh(x)
        y -= abs(x) - abs2(x)
        y += inv(x)
        y += identity(x)
    end
    @i function of_two(y, x, z)
        y += atan(x, z) * min(x, z)
        y -= max(x, z)
    end
    @i function logarithms(y, x)
        y += gaussian_log(x)
        y += gaussian_nlog(-x)
        (y |> AddConst(1.0)) += lgamma(x)
        y += logabsgamma(x)[1]
    end
    x = 0.7
    @test all_of(0.3, x)[1] ≈ 0.3 + tan(x) + asin(x) + acos(x) + sinh(x) * cosh(x) - x + x^2 + 1 / x + x
    @test check_inv(all_of, (0.3, x)) && check_grad(all_of, (0.3, x); iloss=1)
    @test of_two(0.0, x, 1.9)[1] ≈ atan(x, 1.9) * x - 1.9
    @test check_inv(of_two, (0.0, x, 1.9)) && check_grad(of_two, (0.0, x, 1.9); iloss=1)
    @test logarithms(1.0, 3.0)[1] ≈ 1.0 + log(1 + exp(3.0)) + log(1 - exp(-3.0)) + 2 * log(2.0)
    @test check_inv(logarithms, (1.0, 2.0)) && check_grad(logarithms, (1.0, 2.0); iloss=1)
end

@testset "whole numbers" begin
    @i function shifts(y, x, n)
        y += x << n
        y += x >> n
        y ⊻= x & n
        y ⊻= x | n
        y += x ÷ n
        y += x % n
        y += mod1(x, n)
    end
    @test shifts(0, 13, 3)[1] == (((104 + 1) ⊻ 1) ⊻ 15) + 4 + 1 + 1
    @test check_inv(shifts, (0, 13, 3))
    @test INC(2) == 3 && DEC(2) == 1 && NEG(2) == -2
    @test FLIP(true) == false && check_inv(FLIP, (true,))
    @test INV(0.2) == 5.0 && check_inv(INV, (0.2,))
end

@testset "complex instructions of two numbers" begin
    @i function counted(z, w)
        INC(z)
        HADAMARD(z, w)
        DEC(w)
    end
    z, w = 1.0 + 2.0im, 3.0 - 1.0im
    @test counted(z, w)[1] ≈ (5.0 + 1.0im) / sqrt(2)
    @test counted(z, w)[2] ≈ (-1.0 + 3.0im) / sqrt(2) - 1
    @test check_inv(counted, (z, w))
end

@testset "shifts and turns" begin
    @i function shifts(n, m, x)
        n += plshift(x, 3)
        n += prshift(x, 2)
        m += arshift(x, 1)
        m += arshift(-x, 1)
    end
    @i function turned(t, a, b, θ)
        t += rot(a, b, θ)
    end
    @i function first_turned(y, a, b, θ)
        (y, b) += rot(a, θ, θ)
    end
    @test shifts(0, 0, 13)[1] == 104 + 3 + 4611686018427387904
    @test shifts(0, 0, 13)[2] == 6 - 7
    @test check_inv(shifts, (0, 0, 13))
    @test turned((0.0, 0.0), 1.0, 2.0, 0.3)[1][1] ≈ cos(0.3) - 2 * sin(0.3)
    @test turned((0.0, 0.0), 1.0, 2.0, 0.3)[1][2] ≈ sin(0.3) + 2 * cos(0.3)
    @test check_inv(turned, ((0.0, 0.0), 1.0, 2.0, 0.3))
    @test check_inv(first_turned, (0.0, 1.0, 2.0, 0.3)) && check_grad(first_turned, (0.0, 1.0, 2.0, 0.3); iloss=1)
end

@testset "tropical values" begin
    @i function made(y, x)
        t ← Tropical(x)
        u ← zero(Tropical)
        w ← one(Tropical)
        s ← one(Tropical)
        s *= t + zero(Tropical{Float64})
        s *= zero(Tropical) + w * t
        y += content(s)
        y += content(u + t) + content(t + u)
        y += content(Tropical(2.0) * t)
        s /= zero(Tropical) + w * t
        s /= t + zero(Tropical{Float64})
        s → one(Tropical)
        w → one(Tropical)
        u → zero(Tropical)
        t → Tropical(x)
    end
    @test made(0.0, 3.0)[1] == 6.0 + 6.0 + 5.0
    @test check_inv(made, (0.0, 3.0))
    @test gradient(made, (0.0, 3.0); iloss=1)[2] == 5.0
end

@testset "complex powers" begin
    @i function powers(z, w, x)
        z += w^0.5
        z -= w^w
        z += x^w
        z += w^x
        z += 2^w
    end
    z, w = 0.0im, 1.0 + 2.0im
    @test powers(z, w, 2.0)[1] ≈ exp(0.5 * log(w)) - exp(w * log(w)) + exp(w * log(2.0)) + w * w + exp(w * log(2.0))
    @i function parts_of(y, a, b, x)
        y += real(complex(a, b)^x) + imag(x^complex(a, b)) + abs(complex(a, b)^complex(b, a))
    end
    @test check_inv(powers, (z, w, 2.0)) && check_grad(parts_of, (0.0, 1.0, 2.0, 1.5); iloss=1)
end
