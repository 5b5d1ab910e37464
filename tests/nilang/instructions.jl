# Instructions by their names, and their gradients.
using NiLang, NiLang.AD, Test

@testset "there and back" begin
    @test SWAP(1.0, 2.0) == (2.0, 1.0)
    @test NEG(2.0) == -2.0
    @test INC(2) == 3
    @test DEC(2) == 1
    x, y, θ = 1.0, 2.0, 0.3
    @test all(isapprox.(ROT(x, y, θ), (x * cos(θ) - y * sin(θ), x * sin(θ) + y * cos(θ), θ)))
    @test check_inv(ROT, (x, y, θ))
    @test check_inv(IROT, (x, y, θ))
    @test check_inv(HADAMARD, (3.0, 2.0))
end

@testset "functions added to a variable" begin
    for f in [sin, cos, exp, log, sqrt, tanh, atan]
        @test check_inv(PlusEq(f), (0.3, 0.7))
        @test check_grad(PlusEq(f), (0.3, 0.7); iloss=1)
        @test check_grad(MinusEq(f), (0.3, 0.7); iloss=1)
        @test PlusEq(f)(0.3, 0.7)[1] ≈ 0.3 + f(0.7)
    end
    for f in [+, -, *, /, ^]
        @test check_grad(PlusEq(f), (0.3, 0.7, 1.9); iloss=1)
        @test PlusEq(f)(0.3, 0.7, 1.9)[1] ≈ 0.3 + f(0.7, 1.9)
        @test (~PlusEq(f))(0.3, 0.7, 1.9)[1] ≈ 0.3 - f(0.7, 1.9)
    end
    @test gradient(PlusEq(*), (0.0, 2.0, 3.0); iloss=1) == (1.0, 3.0, 2.0)
end

@testset "gradients of rotations" begin
    @test check_grad(ROT, (1.0, 2.0, 2.0); iloss=1)
    @test check_grad(ROT, (1.0, 2.0, 2.0); iloss=2)
    @test check_grad(IROT, (1.0, 2.0, 2.0); iloss=1)
    @test check_grad(HADAMARD, (3.0, 2.0); iloss=2)
    @test check_grad(NEG, (1.0,); iloss=1)
end

@testset "constants that are added" begin
    @i function added(x, y)
        AddConst(4.0)(x)
        SubConst(y)(x)
        (~AddConst(1.0))(x)
    end
    @test added(1.0, 2.0)[1] == 2.0
    @test check_inv(added, (1.0, 2.0))
    x = 2.0
    @instr AddConst(4.0)(x)
    @test x == 6.0
end
