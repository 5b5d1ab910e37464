# What is refused, and what stops a run, where it could not be undone.
using NiLang, Test

@testset "ancillas at their ends" begin
    @i function number(x)
        t ← x
        t → 1.0
    end
    @i function pair(x)
        t ← x
        t → (1.0, 2.0)
    end
    @i function vector(x)
        t ← zeros(2)
        t[1] += x
        t → zeros(2)
    end
    @i function sizes(A)
        (m, n) ← size(A)
        (m, n) → (7, 5)
    end
    @i function whole(n, x)
        t ← 0
        t += x
        n += t
        t -= 2
        t → 0
    end
    @test number(1.0) == 1.0
    @test number(1.0 + 1e-10) == 1.0 + 1e-10
    @test_throws InvertibilityError number(1.1)
    @test_throws InvertibilityError (~number)(1.1)
    @test pair((1.0, 2.0)) == (1.0, 2.0)
    @test_throws InvertibilityError pair((1.1, 2.0))
    @test vector(0.0) == 0.0
    @test_throws InvertibilityError vector(1.1)
    @test_throws InvertibilityError sizes([1.0 2.0])
    @test_throws InvertibilityError (~sizes)([1.0 2.0])
    @test whole(0, 2) == (2, 2)
    @test_throws InvertibilityError whole(0, 3)
end

@testset "names" begin
    @test_throws InvertibilityError macroexpand(Main, :(@i function f(x)
        x ← 0
    end))
    @test_throws InvertibilityError macroexpand(Main, :(@i function f(x)
        y ← 0
        y ← 0
    end))
    @test_throws InvertibilityError macroexpand(Main, :(@i function f(x; k=5)
        k ← 0
        k → 0
    end))
    @test_throws InvertibilityError macroexpand(Main, :(@i function f(x)
        y ← 5
        y → 5
        x += 2 * y
    end))
    @test_throws InvertibilityError macroexpand(Main, :(@i function f(x)
        y ← 5
        y → 5
        for i = 1:10
            x += 2 * y
        end
    end))
    @test_throws InvertibilityError macroexpand(Main, :(@i function f(x, y)
        x::∅ ↔ y
    end))
end

@testset "what reads what it changes" begin
    @test_throws InvertibilityError macroexpand(Main, :(@i function f(x)
        x += x
    end))
    @test_throws InvertibilityError macroexpand(Main, :(@i function f(x, y)
        x -= y * x
    end))
    @i function swapped(v, i, j)
        v[i] += v[j]
    end
    @i function inner(a, b)
        a += b
    end
    @test_throws InvertibilityError macroexpand(Main, :(@i function f(x)
        inner(x, x)
    end))
    @test swapped([1, 2], 1, 2)[1] == [3, 2]
    @test_throws InvertibilityError swapped([1, 2], 1, 1)
end

@testset "what must not change" begin
    @i function grows(x)
        x += 1
    end
    @i function literal(y)
        grows(3)
    end
    @i function lent(y)
        NEG(y)
        grows(y)
        SWAP(y, 4)
    end
    @i function skipped(y, x)
        y += @skip! x
    end
    @test_throws InvertibilityError literal(1)
    @test_throws InvertibilityError lent(1)
    @test skipped(1, 2) == (3, 2)
end

@testset "conditions" begin
    @i function changes(x, y)
        x += y
        if x > 8.0
            x -= y^2
        end
    end
    @i function after(x, y)
        if (x > 0, y > 0)
            y += x
        elseif (x < 0, x < 0)
            y -= x
        else
            y += 3
        end
    end
    @i function loop(x, y)
        while (x < 100, x > -10)
            x += y
        end
    end
    @i function from(x)
        @from x == 0 while x < 3
            x += 1
        end
    end
    @i function longer(v, k)
        for i = 1:2:k
            k += 1
            v += i
        end
    end
    @i function shorter(v)
        for i = 1:length(v)
            POP!(v, 0.0)
        end
    end
    @test_throws InvertibilityError shorter([0.0, 0.0])
    @i function changed(v)
        for x in v
            v[1] += 1
        end
    end
    @test_throws InvertibilityError changes(1.0, 8.0)
    @test after(2, 1) == (2, 3) && after(-1, -3) == (-1, -2) && after(0, -9) == (0, -6)
    @test check_inv(after, (2, 1)) && check_inv(after, (0, -9))
    @test_throws InvertibilityError after(2, -3)
    @test_throws InvertibilityError after(0, 1)
    @test_throws InvertibilityError loop(0.0, 9.0)
    @test from(0) == 3 && (~from)(3) == 0
    @test_throws InvertibilityError from(1)
    @test_throws InvertibilityError longer(0, 5)
    @test_throws InvertibilityError changed([1, 2])
end

@testset "pairs of routines" begin
    @test_throws ErrorException macroexpand(Main, :(@i function f(x)
        @routine x += 1
    end))
    @test_throws ErrorException macroexpand(Main, :(@i function f(x)
        ~@routine
    end))
end

@testset "lengths and places" begin
    @i function added(a, b)
        a .+= b
    end
    @i function one(x, y)
        x += y
    end
    @i function all_of(a, b)
        one.(a, b)
    end
    @i function at(v, i)
        v[i] += 1
    end
    @i function taken(v, x)
        v[end] → x
    end
    @test_throws InvertibilityError added([1.0, 2.0], [1.0])
    @test_throws InvertibilityError all_of([1.0, 2.0], [1.0])
    @test_throws InvertibilityError at([1, 2], 3)
    @test_throws InvertibilityError at([1, 2], 0)
    @test taken([2.0, 1.0], 1.0)[1] == [2.0]
    @test_throws InvertibilityError taken([2.0], 1.0)
    @test_throws InvertibilityError taken(Float64[], 1.0)
end

@testset "rounding errors" begin
    @i function near(x, y)
        x += sin(y)
        x += 0.1 * y
    end
    @i function kept(y, x)
        t ← 0.0
        near(t, x)
        y += t
        t -= 0.1 * x
        t -= sin(x)
        t → 0.0
    end
    @test check_inv(near, (0.3, 0.7))
    @test kept(0.0, 0.7)[1] == 0.0 + (sin(0.7) + 0.1 * 0.7)
    @test check_inv(kept, (0.0, 0.7); atol=1e-12)
    @test almost_same(1.0, 1.0 + 1e-10) && !almost_same(1.0, 1.0 + 1e-7)
end
