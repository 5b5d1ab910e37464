# Stacks, vectors that grow, dictionaries, and values that move.
using NiLang, NiLang.AD, Test

@testset "global stack" begin
    @i function squared(x)
        t ← 1.0
        t += x * x
        GLOBAL_STACK[end+1] ↔ x
        x::∅ ↔ t
    end
    @i function replaced(x, y)
        GLOBAL_STACK[end+1] ← y
        y += x^2
        SWAP(x, y)
    end
    @i function popped(y, x)
        COPYPUSH!(x)
        PUSH!(x)
        x += 1.0
        y += x
        x -= 1.0
        POP!(x)
        COPYPOP!(x)
    end
    @i function and_back(y, x)
        squared(x)
        y += x
        ~squared(x)
    end
    @i function replaced_back(y, x)
        t ← 0.0
        replaced(x, t)
        y += x * t
        (~replaced)(x, t)
        t → 0.0
    end
    @test squared(3.0) == 10.0
    @test and_back(0.0, 3.0) == (10.0, 3.0)
    @test check_inv(and_back, (0.0, 3.0)) && gradient(and_back, (0.0, 3.0); iloss=1)[2] == 6.0
    @test replaced(3.0, 0.0) == (9.0, 3.0)
    @test replaced_back(0.0, 3.0) == (27.0, 3.0)
    @test check_inv(replaced_back, (0.0, 3.0)) && gradient(replaced_back, (0.0, 3.0); iloss=1)[2] == 27.0
    @test popped(0.0, 2.0) == (1.0, 2.0)
    @test check_inv(popped, (0.0, 2.0))
end

@testset "stacks of one type each" begin
    @i function through(x, n, b, z)
        FLOAT64_STACK[end+1] ← x
        INT64_STACK[end+1] ← n
        BOOL_STACK[end+1] ← b
        COMPLEXF64_STACK[end+1] ← z
        x += 1.0
        n += 1
        b ⊻= true
        z += 1.0
        z -= 1.0
        b ⊻= true
        n -= 1
        x -= 1.0
        COMPLEXF64_STACK[end] → z
        BOOL_STACK[end] → b
        INT64_STACK[end] → n
        FLOAT64_STACK[end] → x
    end
    @test check_inv(through, (1.5, 3, true, 1.0 + 2.0im))
end

@testset "what is pushed" begin
    @i function moved(v, y)
        y ↔ v[end+1]
        y ← 7
        v[end+1] ↔ y
        y ← 5
    end
    @i function copied(v, y)
        v[end+1] ← y
    end
    @i function taken(y, v::Vector{T}) where T
        v[end] ↔ (t::T)::∅
        v[end] ↔ t
        y += t
        v[end] ↔ t
        v[end+1] ↔ t
    end
    @i function pushed(v, x)
        PUSH!(v, x)
        COPYPUSH!(v, 1.0)
    end
    @i function top(v, x)
        v[end] ↔ x
    end
    @test moved([1], 4) == ([1, 4, 7], 5)
    @test check_inv(moved, ([1], 5))
    @test copied([1.0], 4.0) == ([1.0, 4.0], 4.0)
    @test check_inv(copied, ([1.0], 4.0))
    @test check_grad(copied, ([1.0], 4.0); iloss=2)
    @test taken(1.0, [3.0, 5.0, 9.0]) == (6.0, [3.0, 5.0, 9.0])
    @test check_inv(taken, (1.0, [3.0, 5.0, 9.0])) && gradient(taken, (1.0, [3.0, 5.0, 9.0]); iloss=1)[2] == [0.0, 1.0, 0.0]
    @test pushed([3.0], 2.0) == ([3.0, 2.0, 1.0], 0.0)
    @test check_inv(pushed, ([3.0], 2.0))
    @test top([1, 2], 3) == ([1, 3], 2)
    @test check_inv(top, ([1, 2], 3))
end

@testset "dictionaries" begin
    @i function kept(y, x)
        d ← Dict{Int,Float64}()
        d[3] ← x
        y += d[3] * 2.0
        d[3] → x
        d → Dict{Int,Float64}()
    end
    @i function twice(y, x)
        d ← Dict(1 => 2.0)
        d[1] ← x
        y += d[1]
        d[1] → x
        d → Dict(1 => 2.0)
    end
    @i function wrong(y)
        d ← Dict(1 => 1, 2 => 2)
        y += d[1]
        d → Dict(1 => 1, 2 => 3)
    end
    @i function changes(y, x)
        d ← Dict(1 => 2.0)
        d[1] += x
        y += d[1]
        d[1] ↔ x
        d[1] ↔ x
        d[1] -= x
        d → Dict(1 => 2.0)
    end
    @i function ended(y)
        d ← Dict{Int,Float64}()
        t ← 2.5
        d[9] ← t
        t → d[9]
        y -= d[9]
        d[9] → 2.5
        d → Dict{Int,Float64}()
    end
    @test ended(1.0) == -1.5 && check_inv(ended, (1.0,))
    @i function absent(x)
        d ← Dict(1 => 2.0)
        d[2] → x
        d → Dict(1 => 2.0)
    end
    @test kept(1.0, 3.0) == (7.0, 3.0)
    @test check_inv(kept, (1.0, 3.0))
    @test check_grad(kept, (1.0, 3.0); iloss=1)
    @test_throws InvertibilityError twice(0.0, 1.0)
    @test_throws InvertibilityError wrong(0)
    @test changes(0.0, 3.0) == (5.0, 3.0)
    @test check_inv(changes, (0.0, 3.0))
    @test_throws InvertibilityError absent(1.0)
end

@testset "values that move" begin
    @i function nothing_moves(x, y)
        j::∅ ↔ k::∅
        x ↔ y
    end
    @i function elements(v, w, t)
        v[1] ↔ w[2]
        v[2] ↔ t.:1
    end
    @i function fields(z)
        (a, b)::∅ ↔ @fields z
        ROT(a, b, π / 2)
        b += 1.0
        (a, b) ↔ (@fields z)::∅
    end
    @i function turned(x, y, z)
        (@fields z) ↔ (x, y)
        z.re -= x
    end
    @i function named(y, z)
        a, b ← @fields z
        y -= a^2 * b
        a, b → @fields z
    end
    @i function pairs(a, b, c, d)
        (a, b) ↔ (c, d)
    end
    @i function both(z, w)
        ((a, b), (c, d))::∅ ↔ ((@fields z), (@fields w))
        c -= b
        ((a, b), (c, d)) ↔ ((@fields z), (@fields w))::∅
    end
    @test both(1.0 + 2.0im, 3.0 + 4.0im)[2] == 1.0 + 4.0im && check_inv(both, (1.0 + 2.0im, 3.0 + 4.0im))
    @test nothing_moves(1, 2) == (2, 1)
    @test elements([1, 2], [3, 4], (5, 6)) == ([4, 5], [3, 1], (2, 6))
    @test check_inv(elements, ([1, 2], [3, 4], (5, 6)))
    @test fields(1.0 + 2.0im) ≈ -2.0 + 2.0im
    @test check_inv(fields, (1.0 + 2.0im,))
    @test turned(1.0, 2.0, 3.0 + 4.0im) == (3.0, 4.0, -2.0 + 2.0im)
    @test check_inv(turned, (1.0, 2.0, 3.0 + 4.0im))
    @test named(0.0, 3.0 + 2.0im) == (-18.0, 3.0 + 2.0im)
    @test check_inv(named, (0.0, 3.0 + 2.0im))
    @test pairs(1, 2, 3, 4) == (3, 4, 1, 2)
    @test check_inv(pairs, (1, 2, 3, 4))
end

@testset "arrays and tuples that move" begin
    @i function pushed(y, v)
        w ← zeros(2)
        w .+= v
        GLOBAL_STACK[end+1] ↔ w
        y += v[1]
    end
    @i function and_back(y, v)
        pushed(y, v)
        y += v[2]
        ~pushed(y, v)
    end
    @i function turned(t, x, y)
        (x, y) ↔ t
        x += 1
    end
    @i function taken_apart(r, t)
        a, b ← t
        r += a * b
        a, b → t
        (c, d) ← (r, 2.0)
        (c, d) → (r, 2.0)
    end
    @test pushed(0.5, [1.0, 2.0])[1] == 1.5 && and_back(0.5, [1.0, 2.0])[1] == 2.5
    @test check_inv(and_back, (0.5, [1.0, 2.0]))
    @test turned((1, 2), 3, 4) == ((3, 4), 2, 2)
    @test check_inv(turned, ((1, 2), 3, 4))
    @test taken_apart(0.0, (3.0, 4.0))[1] == 12.0
    @test check_inv(taken_apart, (0.0, (3.0, 4.0)))
end
