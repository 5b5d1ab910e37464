# Statements, functions and instructions for every element.
using NiLang, Test

@testset "every operator" begin
    @i function plus_minus(a, b, c)
        a .+= b
        a .-= b .* c
        a .+= (b .* c)
        a .+= sin.(b)
        a .-= b .^ 2
        a .+= 2 .* b
        a .+= b |> subarray(1:2)
    end
    @i function truth(y, z)
        y .⊻= z
    end
    @i function logs(p, q)
        p .*= q
        p ./= q .* q
    end
    a, b, c = [1.0, 2.0], [3.0, 4.0], [0.5, 2.0]
    @test plus_minus(copy(a), b, c)[1] ≈ a + b + sin.(b) - b .^ 2 + 3b
    @test check_inv(plus_minus, (a, b, c))
    @i function summed(y, a, b, c)
        plus_minus(a, b, c)
        for x in a
            y += x^2
        end
    end
    @test summed(0.0, copy(a), b, c)[1] ≈ sum(abs2.(plus_minus(copy(a), b, c)[1])) && check_grad(summed, (0.0, a, b, c); iloss=1)
    p, q = [ULogarithmic(2.0), ULogarithmic(3.0)], [ULogarithmic(4.0), ULogarithmic(5.0)]
    @test logs(copy(p), q)[1][1].log ≈ log(0.5) && logs(copy(p), q)[1][2].log ≈ log(0.6)
    @test check_inv(logs, (p, q))
    @test truth([true, false], [true, true])[1] == [false, true]
    @test check_inv(truth, ([true, false], [true, true]))
end

@testset "functions and instructions" begin
    @i function tripled(x)
        t ← zero(x)
        t += x
        x += 2 * t
        t -= x / 3
        t → zero(x)
    end
    @i function three(x, y, z)
        y += x + z
    end
    @i function all_of(v, w, u)
        tripled.(v)
        NEG.(w)
        SWAP.(v, w)
        three.(v, w, u)
        (~three).(w, v, u)
        ROT.(v, w, u)
        PlusEq(sin).(v, w)
    end
    @i function inverse(v, w, u)
        ~three.(v, w, u)
    end
    v, w, u = [1.0, 2.0], [3.0, 4.0], [0.5, 2.0]
    @instr tripled.(v)
    @test v == [3.0, 6.0]
    # What the statements of `all_of` leave.
    p, q = -w, 3v
    q = q + p + u
    p = p - q - u
    after = all_of(copy(v), copy(w), copy(u))
    @test after[1] ≈ p .* cos.(u) - q .* sin.(u) + sin.(after[2])
    @test after[2] ≈ p .* sin.(u) + q .* cos.(u)
    @test check_inv(all_of, (v, w, u))
    @test inverse(copy(v), copy(w), u)[2] == w - v - u
end

@testset "numbers and keywords" begin
    @i function scaled(y, x; k)
        y += k * x
    end
    @i function each(y, x, k)
        y .+= 1
        y .-= k
        scaled.(y, x; k=2.0)
    end
    @test each([1.0, 2.0], [3.0, 4.0], 0.5)[1] == [7.5, 10.5]
    @test check_inv(each, ([1.0, 2.0], [3.0, 4.0], 0.5))
end

@testset "whole arrays" begin
    @i function whole(a, b)
        a += b
        a -= b
        a += b
    end
    @test whole([1.0, 2.0], [3.0, 4.0])[1] == [4.0, 6.0]
    @test check_inv(whole, ([1.0 2.0], [3.0 4.0]))
end

@testset "tuples" begin
    @i function pairs(t, u, v)
        t .+= u
        t .-= exp.(u)
        t .+= u .* 2.0
        SWAP.(t, v)
    end
    @test pairs((1.0, 2.0), (3.0, 0.0), (5.0, 6.0))[3][1] ≈ 10.0 - exp(3.0)
    @test pairs((1.0, 2.0), (3.0, 0.0), (5.0, 6.0))[1] == (5.0, 6.0)
    @test check_inv(pairs, ((1.0, 2.0), (3.0, 0.0), (5.0, 6.0)))
    @i function g(a, b)
        a += b * b
    end
    @i function called(y, t, u)
        g.(t, u)
        (~g).(t, u)
        g.(t, u)
        y += t[1]
    end
    @test called(0.0, (1.0, 2.0), (3.0, 4.0))[2] == (10.0, 18.0)
    @test check_inv(called, (0.0, (1.0, 2.0), (3.0, 4.0)))
    @i function sums(t, u)
        t += u
        t -= u
        t += u
    end
    @test sums((1.0, [2.0, 3.0]), (4.0, [5.0, 6.0]))[1] == (5.0, [7.0, 9.0])
    @test check_inv(sums, ((1.0, [2.0, 3.0]), (4.0, [5.0, 6.0])))
    @i function arrays(v, w)
        SWAP(v, w)
    end
    @test arrays([1.0, 2.0], [3.0, 4.0])[1] == [3.0, 4.0]
    @test check_inv(arrays, ([1.0, 2.0], [3.0, 4.0]))
end
