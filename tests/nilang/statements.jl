# Statements that change variables, allocate, exchange, and call.
using NiLang, Test

@testset "adding and subtracting" begin
    @i function change(y, x)
        y += x * 2.0
        y -= x^2
        y += sin(x)
    end
    x = 0.5
    @test change(1.0, x)[1] ≈ 1.0 + 2x - x^2 + sin(x)
    @test change(1.0, x)[2] == x
    @test (~change)(change(1.0, x)...)[1] ≈ 1.0
    @test check_inv(change, (1.0, x))
    @test check_grad(change, (1.0, x); iloss=1)
end

@testset "truth values" begin
    @i function truth(b, c, v)
        b ⊻= c && true
        b ⊻= c || false
        v[1] ⊻= !c
    end
    @test truth(false, true, [true, false]) == (false, true, [true, false])
    @test truth(true, false, [true, false]) == (true, false, [false, false])
    @test check_inv(truth, (false, true, [true, true]))
end

@testset "ancillas" begin
    @i function cube(y, x)
        s ← zero(x)
        s += x^2
        y += s * x
        s -= x^2
        s → zero(x)
    end
    @test cube(0.0, 3.0) == (27.0, 3.0)
    @test check_grad(cube, (0.0, 1.5); iloss=1)

    @i function dirty(y, x)
        s ← 0.0
        s += x
        y += s
        s → 0.0
    end
    @test_throws InvertibilityError dirty(0.0, 3.0)
    @test dirty(1.0, 0.0) == (1.0, 0.0)
end

@testset "exchanges" begin
    @i function exchange(x, y)
        x ↔ y
    end
    @test exchange(2, 3) == (3, 2)
    @test exchange(2.5, 3.0) == (3.0, 2.5)

    @i function move(x, y)
        kept::∅ ↔ y
        kept += 2 * x
        y::∅ ↔ x
        kept ↔ x::∅
    end
    @test move(2, 3) == (7, 2)
    @test check_inv(move, (2, 3))

    @i function parts(x, y, z)
        (x, y) ↔ @fields z
        x += z.im
    end
    @test parts(1.0, 2.0, 0.5 - 4.0im) == (2.5, -4.0, 1.0 + 2.0im)
    @test check_inv(parts, (1.0, 2.0, 0.5 - 4.0im))
end

@testset "broadcasting" begin
    @i function add(a, b)
        a .+= b
        a .-= sin.(b)
        a .+= b .* b
    end
    a, b = [3.0, 1.0], [0.4, 2.0]
    @test add(copy(a), b)[1] ≈ a + b - sin.(b) + b .* b
    @test check_inv(add, (a, b))

    @i function one(x, y)
        x += y * 3
    end
    @instr one.(a, b)
    @test a ≈ [4.2, 7.0]
    @instr (~one).(a, b)
    @test a ≈ [3.0, 1.0]
    @test_throws DimensionMismatch a + [1.0, 2.0, 3.0]
end

@testset "calls" begin
    @i function inner(y, x)
        y += exp(x)
    end
    @i function outer(y, z, x)
        inner(y, x)
        z += y
        (~inner)(y, x)
    end
    @test outer(0.0, 0.0, 1.0) == (0.0, exp(1.0), 1.0)
    @test check_grad(outer, (0.0, 0.0, 0.3); iloss=2)
end

@testset "statements after @instr" begin
    x, y = 0.4, 0.3
    @instr x += y
    @test x == 0.7
    @test y == 0.3
    @instr x -= y
    @test x ≈ 0.4
    b = false
    @instr b ⊻= true || false
    @test b
    args = (1.0, 2.0)
    @i function add2(p, q)
        p += q
    end
    @instr add2(args...)
    @test args == (3.0, 2.0)
end
