# What may be a value or a place: functions, vectors that grow, parts, references, kinks.
using NiLang, Test

struct Wave{T}
    amplitude::Complex{T}
    phase::T
end

@testset "functions as arguments" begin
    @i function apply(y, f, x)
        y += f(x)
    end
    @i function twice(f, y, x)
        f(y, x)
        f(y, x)
    end
    @i function four(y, x)
        twice((@skip! PlusEq(abs2)), y, x)
        twice((@const PlusEq(identity)), y, x)
    end
    @i function lambdas(y, x)
        apply(y, (@skip! v -> v^2 + 1), x)
        apply(y, (@skip! v -> 2v), x)
    end
    @test four(0.0, 3.0)[1] == 24.0
    @test check_inv(four, (0.0, 3.0))
    @test lambdas(1.0, 2.0)[1] == 10.0
    @test check_inv(lambdas, (1.0, 2.0)) && check_grad(lambdas, (1.0, 2.0); iloss=1)
end

@testset "vectors that grow" begin
    @i function largest(y, v)
        @routine begin
            xs ← Float64[]
            at ← Int[]
            i_ascending!(xs, at, v)
        end
        y += xs[end] * length(at)
        ~@routine
    end
    @i function reversed(w, v)
        xs ← FastStack{Float64}(10)
        for i = 1:length(v)
            xs[end+1] ← v[i]
        end
        for i = 1:length(v)
            w[i] += xs[length(v) + 1 - i]
        end
        for i = length(v):-1:1
            xs[end] → v[i]
        end
        xs → FastStack{Float64}(10)
    end
    @i function through(x, y)
        a ← 2.0
        FLOAT64_STACK[end+1] ← x
        FLOAT64_STACK[end+1] ↔ a
        FLOAT64_STACK[end] ↔ (b::Float64)::∅
        y += b
        b → 2.0
        FLOAT64_STACK[end] → x
    end
    @test largest(0.0, [1.0, 3.0, 2.0, 5.0])[1] == 15.0
    @test check_inv(largest, (0.0, [1.0, 3.0, 2.0, 5.0]))
    @test reversed([0.0, 0.0], [1.0, 2.0])[1] == [2.0, 1.0]
    @test through(1.5, 0.0)[2] == 2.0
    @test check_inv(through, (1.5, 0.0))
end

@testset "vectors from outside, arrays of arrays, numbers of the host" begin
    @i function keep(xs, s, y)
        for i = 1:length(y)
            if (y[i] > 0, y[i] > 0)
                xs[end+1] ← y[i]
            end
        end
        for x in xs
            s += x^2
        end
    end
    @test keep(Float64[], 0.0, [1.5, -2.0, 3.5])[1] == [1.5, 3.5]
    @test check_inv(keep, (Float64[], 0.0, [1.5, -2.0, 3.5]))
    @test check_grad(keep, ([1.0], 0.0, [1.5, -2.0, 3.5]); iloss=2)
    @test NiLang.AD.gradient(Val(2), keep, ([1.0], 0.0, [1.5, -2.0])) == ([2.0], 1.0, [3.0, 0.0])
    @i function moved(x, y)
        y += 1
        x[end+1] ↔ y
        y ← 8
    end
    @test moved([6], 4) == ([6, 5], 8)
    @test check_inv(moved, ([6, 7], 8))
    @i function dots(s, xs)
        for i = 1:length(xs), j = 1:length(xs[i])
            s += i * xs[i][j]
        end
    end
    @test dots(0.0, [[1.0, 2.0], [3.0, 4.0]])[1] == 17.0
    @test check_inv(dots, (0.0, [[1.0, 2.0], [3.0, 4.0]])) && check_grad(dots, (0.0, [[1.0, 2.0], [3.0, 4.0]]); iloss=1)
    @i function turns(y, a, x)
        for i = 1:length(x)
            (y |> tget(i)) += a * (x |> tget(i))
        end
    end
    @test turns((0.0, 0.0), 2.0, (1.0, 3.0))[1] == (2.0, 6.0)
    @test check_inv(turns, ((0.0, 0.0), 2.0, (1.0, 3.0)))
    shiba = 18
    @i function host(y, x)
        y += shiba * x
    end
    @test host(0.0, 2.0)[1] == 36.0
    @test check_grad(host, (0.0, 2.0); iloss=1)
end

@testset "elements and parts" begin
    @i function total(y, v)
        for x in v
            y += x
        end
    end
    @i function odd(y, v)
        for x in v[1:2:length(v)]
            y += x
        end
        v[end:-2:1] .+= 1.0
    end
    @i function swapped(v, w)
        v ↔ w
    end
    @i function at(y, A, i)
        y += A[i...]
        y += view(A, 2, :)[1]
    end
    @i function counted(n)
        n[] += 1
    end
    @test total(0.0, [1.0, 2.0, 4.0])[1] == 7.0
    @test odd(0.0, [1.0, 2.0, 4.0]) == (5.0, [2.0, 2.0, 5.0])
    @test check_inv(odd, (0.0, [1.0, 2.0, 4.0]))
    @test swapped([1, 2], [3, 4]) == ([3, 4], [1, 2])
    @test at(0.0, [1.0 2.0; 3.0 4.0], (1, 2))[1] == 5.0
    @test counted(3) == 4
end

@testset "keywords" begin
    @i function moved(y, x; t)
        @routine t += x
        y += t^2
        ~@routine
    end
    @i function calls(y, x)
        moved(y, x; t = 2.0)
        moved(y, x; t = x * 2)
    end
    @test calls(0.0, 1.0)[1] == 18.0
    @test check_grad(calls, (0.0, 1.0); iloss=1)
end

for (NAME, F) in [(:with_sine, :sin), (:with_exp, :exp)]
    @eval @i function $NAME(y, x)
        y += $F(x)
    end
end

@testset "loops around @eval" begin
    @i function both(y, x)
        with_sine(y, x)
        with_exp(y, x)
    end
    @test both(0.0, 0.0)[1] == 1.0
    @test check_inv(both, (0.0, 0.5)) && check_grad(both, (0.0, 0.5); iloss=1)
end

@testset "kinks" begin
    @i function root(y, x)
        y += sqrt(x)
    end
    @i function distance(y, re, im)
        z ← Complex{}(re, im)
        y += abs(z)
        z → Complex{}(re, im)
    end
    @test root(1.0, 4.0)[1] == 3.0 && distance(1.0, 3.0, 4.0)[1] == 6.0
    @test gradient(root, (0.0, 0.0); iloss=1)[2] == 0.0
    @test gradient(distance, (0.0, 0.0, 0.0); iloss=1) == (1.0, 0.0, 0.0)
end

@testset "structs of complex numbers" begin
    @i function intensity(y, z, p)
        w ← Wave(z, p)
        y += abs2(w.amplitude) * w.phase
        w → Wave(z, p)
    end
    @test intensity(0.0, 1.0 + 2.0im, 3.0)[1] == 15.0
    @test check_inv(intensity, (0.0, 1.0 + 2.0im, 3.0))
end
