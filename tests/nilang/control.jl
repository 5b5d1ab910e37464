# What decides, repeats and undoes.
using NiLang, Test

@testset "if" begin
    @i function both(x, y, z)
        if (x > 8, x > 8)
            z += x * y
        else
            z -= y
        end
    end
    @test both(9, 2, 0) == (9, 2, 18)
    @test both(1, 2, 0) == (1, 2, -2)
    @test check_inv(both, (9, 2, 0))

    @i function same(x, y)
        if (x == 7, ~)
            y -= x
        elseif (x > 7, ~)
            y += 2 * x
        else
            y ⊻= x
        end
    end
    @test same(7, 1) == (7, -6)
    @test same(9, 1) == (9, 19)
    @test same(6, 3) == (6, 5)
    @test check_inv(same, (7, 1)) && check_inv(same, (9, 1)) && check_inv(same, (6, 3))

    @i function different(x, y)
        if (x > 0, x < 0)
            y += 1
        end
    end
    @test_throws InvertibilityError different(1, 0)
end

@testset "for" begin
    @i function sums(x, y, k)
        for i = 1:2:k
            x += y * i
        end
    end
    @test sums(0, 2, 5) == (18, 2, 5)
    @test check_inv(sums, (1, 2, 6))

    @i function changed(x, k)
        for i = 1:k
            k += 1
            x += 1
        end
    end
    @test_throws InvertibilityError changed(0, 3)
end

@testset "while" begin
    @i function up(x, s, y)
        while (s < 20, x != 1)
            x += 2
            s += x * y
        end
    end
    @test up(1, 0, 2) == (7, 30, 2)
    @test (~up)(7, 30, 2) == (1, 0, 2)
    @test_throws InvertibilityError up(-1, 0, 2)

    @i function turns(n, k)
        left ← 0
        left += k
        @from left == k while left > 0
            n += left^2
            left -= 1
        end
        left → 0
    end
    @test turns(1, 3) == (15, 3)
    @test (~turns)(15, 3) == (1, 3)
end

@testset "routines" begin
    @i function norm2(out, x)
        @routine begin
            s ← 0.0
            for i = 1:length(x)
                s += x[i]^2
            end
        end
        out += s
        ~@routine
    end
    x = [3.0, 4.0]
    @test norm2(0.0, x)[1] == 25.0
    @test check_inv(norm2, (0.0, x))
    @test check_grad(norm2, (0.0, x); iloss=1)

    @i function undone(out, x)
        ~(for i = 1:2
            out += i * x
        end)
        ~begin
            SWAP(out, x)
            x -= out
        end
    end
    @test undone(1.0, 2.0) == (-3.0, -5.0)
    @test check_inv(undone, (1.0, 2.0))
end

@testset "checks that are switched off" begin
    @i function off(out, x)
        s ← 0
        s += x
        out += s
        @invcheckoff s → 0
    end
    @test off(0, 2) == (2, 2)
    @test_throws InvertibilityError (~off)(2, 2)
end

@testset "from the end" begin
    @i function turned(ys, z, v, t)
        k ← 0
        for x in reverse(v)
            k += 1
            ys[k] += x
        end
        k → length(v)
        for i in reverse(1:3)
            z += i * v[i]
        end
        for x in reverse(t)
            z += x
        end
    end
    @test turned([0.0, 0.0, 0.0], 0.0, [1.0, 2.0, 3.0], (1.0, 2.0))[1] == [3.0, 2.0, 1.0]
    @test turned([0.0, 0.0, 0.0], 0.0, [1.0, 2.0, 3.0], (1.0, 2.0))[2] == 14.0 + 3.0
    @test check_inv(turned, ([0.0, 0.0, 0.0], 0.0, [1.0, 2.0, 3.0], (1.0, 2.0)))
end
