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
        if (x > 0, ~)
            y += 1
        elseif (x < 0, ~)
            y += 2
        else
            y += 3
        end
    end
    @test same(1, 0) == (1, 1)
    @test same(-2, 0) == (-2, 2)
    @test same(0, 0) == (0, 3)

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
    @i function up(x, y)
        while (x < 100, x > 0)
            x += y
        end
    end
    @test up(0, 9) == (108, 9)
    @test (~up)(108, 9) == (0, 9)
    @test_throws InvertibilityError up(1, 9)

    @i function turns(n)
        x ← 5
        z ← 0
        @from z == 0 while x > 0
            x -= 1
            z += 1
            n += z
        end
        z → 5
        x → 0
    end
    @test turns(0) == 15
    @test (~turns)(15) == 0
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
        ~(begin
            out += x
            out += x
        end)
        ~(for i = 1:3
            out += x
        end)
    end
    @test undone(0.0, 1.0) == (-5.0, 1.0)
end

@testset "checks that are switched off" begin
    @i function off(out, x)
        s ← 0
        s += x
        out += s
        @invcheckoff s → 0
    end
    @test off(0, 2) == (2, 2)
end
