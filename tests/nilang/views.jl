# Parts and views of variables, as what is changed and as what is read.
using NiLang, NiLang.AD, Test

@testset "numbers" begin
    @i function views(y, x)
        -y += x
        y += x |> NEG
        (y |> NEG) += x |> AddConst(4.0)
        y += x |> SubConst(0.5) |> NEG
        (y |> identity) += x |> identity
    end
    @i function inverses(y, x)
        y += cos(x |> INV)
        y += x |> NEG |> SubConst(0.5) |> INV
        (y |> AddConst(2.0)) += x
        (y |> SubConst(2.0)) -= x
    end
    @test views(1.0, 2.0)[1] == 1.0 - 2.0 - 2.0 - 6.0 - 1.5 + 2.0
    @test check_inv(views, (1.0, 2.0))
    @test check_grad(views, (1.0, 2.0); iloss=1)
    @test inverses(1.0, 2.0)[1] ≈ 1.0 + cos(0.5) - 0.4
    @test check_inv(inverses, (1.0, 2.0))
    @test check_grad(inverses, (1.0, 2.0); iloss=1)
end

@testset "whole numbers" begin
    @i function opposite(n, m)
        n += m |> NEG
        -n += m
        n -= m |> AddConst(1)
    end
    @test opposite(1, 2) == (1 - 2 - 2 - 3, 2)
    @test check_inv(opposite, (1, 2))
end

@testset "complex numbers" begin
    @i function parts(z, w)
        z.re += w.im
        (z |> real) += 2
        (z |> imag) += w.re
        z' += w
        z += w'
        SWAP(z.re, z.im)
    end
    @test parts(1.0 + 2.0im, 3.0 + 4.0im)[1] == -3.0 + 13.0im
    @test check_inv(parts, (1.0 + 2.0im, 3.0 + 4.0im))
end

@testset "tuples" begin
    @i function parts(t, u)
        t.:1 += u.:2
        (t |> tget(2)) += u |> tget(1)
        t[1] += u[2]
        SWAP(t.:1, t.:2)
    end
    @i function deep(t)
        (t.:1).:2 += t.:2
    end
    @test parts((1, 2), (3, 4)) == ((5, 9), (3, 4))
    @test check_inv(parts, ((1, 2), (3, 4)))
    @test deep(((1, 2), 3)) == ((1, 5), 3)
    @test check_inv(deep, (((1, 2), 3),))
end

struct Body{T}
    place::T
    mass::T
end
struct Moving{T}
    body::Body{T}
    speed::Complex{T}
end
mutable struct Account{T}
    sum::T
    fee::T
end

@testset "fields" begin
    @i function faster(b, m)
        b.body.mass += m
        b.speed.re += b.body.mass
        (b.speed |> imag) -= m
    end
    @i function moved(y, m)
        b ← Moving(Body(0.0, 1.0), 0.5 + 2.0im)
        faster(b, m)
        y += b.speed.re * b.speed.im
        (~faster)(b, m)
        b → Moving(Body(0.0, 1.0), 0.5 + 2.0im)
    end
    @i function paid(y, x)
        c ← Account(x, 0.5)
        c.sum -= c.fee
        c.fee += 1
        y += c.sum^2
        y += c.fee
        c.fee -= 1
        c.sum += c.fee
        c → Account(x, 0.5)
    end
    @test moved(0.0, 3.0)[1] == 4.5 * -1.0
    @test check_inv(moved, (0.0, 3.0)) && gradient(moved, (0.0, 3.0); iloss=1)[2] == -1.0 - 4.5
    @test paid(0.0, 2.0)[1] == 1.5^2 + 1.5
    @test check_inv(paid, (0.0, 2.0)) && gradient(paid, (0.0, 2.0); iloss=1)[2] == 3.0
end

@testset "elements of arrays" begin
    @i function elements(v, A, i)
        v[1] += A[2, 1]
        v[end] += A[end, end]
        v[i+1] -= A[i]
        A[1, i] += v[begin]
    end
    @i function rows(A, v)
        A[1, :] .+= v
        A[:, 2] .-= v
        for j = 1:2
            v[j] += A[j, 1]
        end
    end
    @i function cube(T3, y)
        T3[1, 2, 2] += y
        y += T3[2, 1, 1]
    end
    v, A = [1.0, 2.0], [1.0 2.0; 3.0 4.0]
    @test elements(copy(v), copy(A), 1) == ([4.0, 5.0], [5.0 2.0; 3.0 4.0], 1)
    @test check_inv(elements, (v, A, 1))
    @i function of_elements(y, v, A, i)
        elements(v, A, i)
        y += v[1] * v[2]
    end
    @test gradient(of_elements, (0.0, v, A, 1); iloss=1)[2] == [5.0, 4.0]
    @test rows(copy(A), copy(v)) == ([2.0 3.0; 3.0 2.0], [3.0, 5.0])
    @test check_inv(rows, (A, v))
    @test cube(ones(2, 2, 2), 1.0)[2] == 2.0 && sum(cube(ones(2, 2, 2), 3.0)[1]) == 11.0
    @test check_inv(cube, (zeros(2, 2, 2), 1.0))
end

@testset "parts of arrays" begin
    @i function change(x, y)
        (x |> subarray(1:2)) .+= y
        (x |> subarray(3)) += y |> subarray(1)
        x[2:3] .-= y
        x[1:2:3] .+= y
    end
    @i function sum_of(s, v)
        for i = 1:length(v)
            s += v[i]
        end
    end
    @i function sums(s, A)
        sum_of(s, A[:, 1])
        sum_of(s, view(A, 2, :))
        sum_of(s, A |> subarray(1, :))
        sum_of(s, A |> vec)
    end
    x, y = [1.0, 2.0, 3.0], [10.0, 20.0]
    @test change(copy(x), y)[1] == [1.0 + 10.0 + 10.0, 2.0 + 20.0 - 10.0, 3.0 + 10.0 - 20.0 + 20.0]
    @test check_inv(change, (x, y))
    @test sums(0.0, [1.0 2.0; 3.0 4.0])[1] == 4.0 + 7.0 + 3.0 + 10.0
    @test check_inv(sums, (0.0, [1.0 2.0; 3.0 4.0]))
    @test gradient(sums, (0.0, [1.0 2.0; 3.0 4.0]); iloss=1)[2] == [3.0 2.0; 3.0 2.0]
end

@testset "made of several variables" begin
    @i function mixed(t, z::Complex)
        t.:3 -= z.im
        SWAP(z.re, z.im)
        z.re += t.:1
    end
    @i function packed(a, b, c, d, e)
        mixed((a, b, c), Complex{}(d, e))
    end
    @i function product(a, b, x, y)
        t ← Complex{}(x, y)
        a += t.re
        b += abs2(t)
        t → Complex{}(x, y)
    end
    @test packed(1.0, 2.0, 3.0, 4.0, 5.0) == (1.0, 2.0, -2.0, 6.0, 4.0)
    @test check_inv(packed, (1.0, 2.0, 3.0, 4.0, 5.0))
    @test product(0.0, 0.0, 3.0, 4.0) == (3.0, 25.0, 3.0, 4.0)
    @test gradient(product, (0.0, 0.0, 3.0, 4.0); iloss=2)[3:4] == (6.0, 8.0)
end

@testset "tuples of results" begin
    @i function waves(s, c, x)
        (s, c) += sincos(x)
    end
    @i function pairs(a, b)
        (a, b) += (1.0, 2.0)
        (a, b) -= (3.0, 1.0)
    end
    @i function into_parts(v, t, x)
        (t.:2, -v[1].im) -= sincos(x)
    end
    v, t = [1.0 + 2.0im], (1.0, 3.0)
    @test into_parts(copy(v), t, 0.5)[1] ≈ [1.0 + (2.0 + cos(0.5)) * im]
    @test into_parts(copy(v), t, 0.5)[2] == (1.0, 3.0 - sin(0.5)) && check_inv(into_parts, (v, t, 0.5))
    @test waves(1.0, 2.0, 0.5) == (1.0 + sin(0.5), 2.0 + cos(0.5), 0.5)
    @test check_inv(waves, (1.0, 2.0, 0.5))
    @test gradient(waves, (1.0, 2.0, 0.5); iloss=2)[3] ≈ -sin(0.5)
    @test pairs(0.0, 0.0) == (-2.0, 1.0)
    @test check_inv(pairs, (0.0, 0.0))
end

@testset "functions as views" begin
    @i function read(y, z, v)
        y += z |> abs2
        y -= z |> (t -> t.im)
        v[1].re += y
        y += v[1].im
    end
    @test read(0.0, 3.0 + 4.0im, [1.0 + 2.0im])[1] == 23.0
    @test read(0.0, 3.0 + 4.0im, [1.0 + 2.0im])[3] == [22.0 + 2.0im]
    @test check_inv(read, (0.0, 3.0 + 4.0im, [1.0 + 2.0im]))
end

@testset "counts and truth values" begin
    @i function counted(n, m, b)
        (n |> INC) += 1
        m += n |> DEC
        (b |> FLIP) ⊻= true
        if (b |> FLIP, ~)
            m += 10
        end
    end
    @test counted(3, 0, true) == (4, 13, false)
    @test check_inv(counted, (3, 0, true))
end
