# What is evaluated of the host language, so that tests can say what they expect.
using Test

@testset "numbers" begin
    @test 1 + 2 * 3 == 7
    @test 2^10 == 1024
    @test 7 ÷ 2 == 3 && 7 % 2 == 1
    @test 1 / 2 == 0.5
    @test 2π ≈ 6.283185307179586
    @test (1 + 2im) * (3 - 1im) == 5 + 5im
    @test 0.1 + 0.2 ≈ 0.3
    @test !(0.1 + 0.2 == 0.3)
    @test 1 < 2 <= 2 != 3
    @test isapprox(1.0, 1.001; atol=1e-2)
    @test 1.0 ≈ 1.001 atol=1e-2
    @test (true ? 1 : 2) == 1
    @test abs2(3 + 4im) == 25.0
end

@testset "arrays" begin
    v = [1.0, 2.0, 4.0]
    m = [1 2; 3 4]
    @test length(v) == 3 && size(m) == (2, 2)
    @test v[end] == 4.0 && v[2:end] == [2.0, 4.0]
    @test m[1, :] == [1, 2] && m[:, 2] == [2, 4]
    @test m' == [1 3; 2 4]
    @test m * [1, 1] == [3, 7]
    @test sum(v) == 7.0 && prod(v) == 8.0 && maximum(v) == 4.0
    @test v .^ 2 == [1.0, 4.0, 16.0]
    @test sin.(v) ≈ [sin(1.0), sin(2.0), sin(4.0)]
    @test [x^2 for x in 1:3] == [1, 4, 9]
    w = copy(v)
    w[1] = 9.0
    @test v[1] == 1.0 && w[1] == 9.0
    @test zeros(2, 3) == [0.0 0.0 0.0; 0.0 0.0 0.0]
    @test collect(1:2:7) == [1, 3, 5, 7]
    @test size(randn(3, 2)) == (3, 2)
    @test 2 in [1, 2]
end

square(x) = x^2

function sum_of(f, xs)
    total = 0
    for x in xs
        total += f(x)
    end
    return total
end

@testset "functions" begin
    @test square(3) == 9
    @test sum_of(square, 1:3) == 14
    @test sum_of(x -> 2x, [1, 2]) == 6
    k = 0
    while k < 5
        k += 1
    end
    @test k == 5
    a, b = 1, 2
    a, b = b, a
    @test (a, b) == (2, 1)
    if a > b
        c = "larger"
    else
        c = "smaller"
    end
    @test c == "larger"
    @test_throws BoundsError [1, 2][3]
    @test_throws DomainError sqrt(-1.0)
end
