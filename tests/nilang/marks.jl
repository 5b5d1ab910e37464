# Blocks, loops of all kinds, macros around statements, and inverses of statements.
using NiLang, NiLang.AD, Test

@testset "blocks and nothing" begin
    @i function f(x)
        begin
            x += 1
            nothing
        end
        if (x > 10, ~)
        else
            nothing
        end
        begin end
    end
    @test f(1) == 2
    @test check_inv(f, (1,))
end

@testset "ifs" begin
    @i function plain(x, y)
        if x > 0
            y += 1
        elseif x < 0
            y -= 1
        end
    end
    @i function nested(x, y, b)
        if (b && x > 0, b && x > 0)
            if x > 5 || y > 5
                x += 1
            end
        else
            y += x
        end
    end
    @i function either(x, y)
        if (x > y, ~)
            y += 1
            y -= 1
        elseif (x == y, x == y)
            x += 1
            y += 1
        else
            y += 2
        end
    end
    @test plain(2, 0) == (2, 1) && plain(-2, 0) == (-2, -1) && plain(0, 0) == (0, 0)
    @test (~plain)(-2, -1) == (-2, 0) && check_inv(plain, (2, 0))
    @test nested(6, 0, true) == (7, 0, true) && nested(3, 1, false) == (3, 4, false)
    @test check_inv(nested, (7, 0, true)) && (~nested)(3, 4, false)[2] == 1
    @test either(1, 1) == (2, 2) && either(1, 3) == (1, 5) && either(3, 1) == (3, 1)
    @test (~either)(2, 2) == (1, 1) && (~either)(1, 5) == (1, 3)
    @i function marked(x, b)
        b ⊻= x > 2
        if (x > 2, b)
            x -= 2
        end
    end
    @test marked(3, false) == (1, true) && marked(1, false) == (1, false)
    @test (~marked)(1, true) == (3, false)
    @i function relu(y, x)
        if (x > 0, ~)
            y += x^2
        end
    end
    @test relu(0.0, 2.0)[1] == 4.0 && gradient(relu, (0.0, 2.0); iloss=1)[2] == 4.0 && gradient(relu, (0.0, -2.0); iloss=1)[2] == 0.0
end

@testset "loops" begin
    @i function down(y, n)
        for i = n:-1:1
            y += i * n
        end
    end
    @i function in_range(y, n)
        for i in 1:n
            y += i
        end
    end
    @i function steps(y, n)
        for i = 1:3:n
            y -= i
        end
    end
    @i function pairs(y, n, m)
        for i = 1:n, j = i:m
            y += i * j
        end
    end
    @i function over(y, v, t)
        for x in v
            y += x
        end
        for x = t
            y += 2 * x
        end
    end
    @i function late(y, x)
        @from y == 0.0 while y < 10.0
            y += x
        end
    end
    @test down(0, 3)[1] == 18 && in_range(0, 4)[1] == 10 && in_range(0, 0)[1] == 0
    @test steps(0, 8)[1] == -12 && pairs(0, 2, 3)[1] == 1 + 2 + 3 + 4 + 6
    @test (~down)(18, 3)[1] == 0 && (~in_range)(10, 4)[1] == 0
    @test (~steps)(-12, 8)[1] == 0 && (~pairs)(16, 2, 3)[1] == 0
    @test over(0.0, [1.0, 2.0], (3.0, 4.0))[1] == 17.0
    @test check_inv(over, (0.0, [1.0, 2.0], (3.0, 4.0)))
    @test late(0.0, 3.0)[1] == 12.0
    @test (~late)(12.0, 3.0)[1] == 0.0
end

@testset "inverses of statements" begin
    @i function undone(x, y, n)
        ~(x += y)
        ~~(x += 5 * y)
        ~(if (y > 0, ~)
            x += 2 * y
        end)
        ~(while (n < 3, n > 0)
            n += 1
        end)
        ~begin
            x -= y
            n -= 1
        end
        ~(SWAP(x, y))
        ~ROT(x, y, π / 2)
    end
    @test check_inv(undone, (1.0, 2.0, 3))
    @test undone(1.0, 2.0, 3)[1] ≈ 7.0 && undone(1.0, 2.0, 3)[2] ≈ -2.0
    @test undone(1.0, 2.0, 3)[3] == 1
end

@testset "routines in each other" begin
    @i function nested(y, x)
        @routine begin
            a ← zero(x)
            a += x^2
            @routine begin
                b ← zero(x)
                b += a * x
            end
            c ← zero(x)
            c += b + a
            ~@routine
        end
        y += c
        ~@routine
    end
    @i function twice(y, x)
        @routine @invcheckoff begin
            a ← zero(x)
            a += x^2
        end
        @routine begin
            b ← zero(x)
            b += a
        end
        y += b
        ~@routine
        y += a
        ~@routine
    end
    @i function in_loop(y, v)
        for i = 1:length(v)
            @routine t ← v[i]
            y += t^2
            ~@routine
        end
        if (length(v) > 1, ~)
            @routine begin
                s ← 0.0
                s += v[1]
            end
            y += s
            ~@routine
        end
    end
    @test nested(0.0, 2.0)[1] == 12.0
    @test check_inv(nested, (0.0, 2.0)) && gradient(nested, (0.0, 2.0); iloss=1)[2] == 16.0
    @test twice(0.0, 3.0)[1] == 18.0
    @test check_inv(twice, (0.0, 3.0)) && gradient(twice, (0.0, 3.0); iloss=1)[2] == 12.0
    @test in_loop(0.0, [1.0, 2.0])[1] == 6.0
    @test check_inv(in_loop, (0.0, [1.0, 2.0]))
end

@testset "marks of loops" begin
    @i function bounds(x, y)
        @inbounds for i = 1:length(x)
            x[i] += y[i]
        end
        for i = 1:length(x)
            @inbounds x[i] += y[i]
        end
    end
    @i function blocks(s, x)
        @simd for i = 1:length(x)
            s += x[i]
        end
    end
    @i function beside(x)
        @threads for i = 1:length(x)
            x[i] += 1
        end
    end
    @i function wide(x)
        @avx for i = 1:length(x)
            x[i] += 2
        end
        @invcheckoff @inbounds for i = 1:length(x)
            x[i] -= 1
        end
    end
    @test bounds([1, 2], [2, 3]) == ([5, 8], [2, 3])
    @test check_inv(bounds, ([1, 2], [2, 3]))
    @test blocks(0.0, [1.0, 2.0, 3.0])[1] == 6.0
    @test check_inv(blocks, (0.0, [1.0, 2.0, 3.0])) && gradient(blocks, (0.0, [1.0, 2.0]); iloss=1)[2] == [1.0, 1.0]
    @test beside([1, 2]) == [2, 3] && check_inv(beside, ([1, 2],))
    @test wide([1, 2]) == [2, 3] && check_inv(wide, ([1, 2],))
end

@testset "statements of the host" begin
    @i function safe(x, v)
        @safe @assert length(v) == 2
        @safe x > 0 || error("too small")
        @safe println("x is ", x)
        @safe @show x
        x += v[1]
        @safe nothing
    end
    @test safe(1.0, [1.0, 2.0])[1] == 2.0
    @test check_inv(safe, (1.0, [1.0, 2.0]))
    @test_throws InvertibilityError safe(-1.0, [1.0, 2.0])
    @test_throws InvertibilityError safe(1.0, [1.0])
end

@testset "several at once" begin
    @i function several(y, x)
        @zeros Float64 a b
        @ones typeof(x) c
        a += x * c
        b += a^2
        y += b
        b -= a^2
        a -= x * c
        ~@ones typeof(x) c
        ~@zeros Float64 a b
    end
    @i function counted(y, A)
        m, n ← size(A)
        (l, k) ← size(A)
        y += m * n + l * k
        (l, k) → size(A)
        m, n → size(A)
    end
    @test several(1.0, 3.0) == (10.0, 3.0)
    @test check_inv(several, (1.0, 3.0)) && gradient(several, (1.0, 3.0); iloss=1) == (1.0, 6.0)
    @test counted(0, [1.0 2.0 3.0])[1] == 6
    @test check_inv(counted, (0, [1.0 2.0 3.0]))
end

@testset "expanded" begin
    @i function composed(x, y, z)
        @auto_expand z += sin(x + 2 * y)
        @invcheckoff @auto_expand z -= sin(cos(x)) * y
    end
    @test composed(1.0, 2.0, 3.0)[3] ≈ 3.0 + sin(5.0) - 2 * sin(cos(1.0))
    @test check_inv(composed, (1.0, 2.0, 3.0)) && check_grad(composed, (1.0, 2.0, 3.0); iloss=3)
end

@testset "outside of functions" begin
    @i function f(x, y)
        x += y
    end
    x, y = 1.0, 2.0
    @instr f(x, y)
    @test x == 3.0
    @instr (~f)(x, y)
    @test x == 1.0
    @instr ~(x += y)
    @test x == -1.0
    @instr x += π
    @test x == π - 1.0
    @instr x -= log(2 * π) / 2
    @test x == π - 1.0 - log(2π) / 2
    @instr SWAP(x, y)
    @test x == 2.0
    v, w = [1.0, 2.0], [3.0, 4.0]
    @instr v .+= w
    @test v == [4.0, 6.0]
    @instr v[1] += w[2]
    @test v == [8.0, 6.0]
    z = 1.0 + 2.0im
    @instr (z |> real) += 2
    @test z == 3.0 + 2.0im
    t = (3, 4)
    @instr (t.:1) += 3
    @test t == (6, 4)
    one = (3,)
    @i function opposite(x)
        NEG(x)
    end
    @instr opposite(one...)
    @test one == (-3,)
end

@testset "marks of blocks" begin
    @i function sums(x, v)
        @inbounds begin
            x += v[1]
            for i in eachindex(v)
                x += v[i]
            end
        end
        @invcheckoff begin
            t ← 0.0
            t += x
            t -= x
            t → 0.0
        end
        begin x += 1; x += 1 end
    end
    @test sums(0.0, [1.0, 2.0])[1] == 6.0
    @test check_inv(sums, (0.0, [1.0, 2.0]))
end
