# Functions that come with NiLang.
using NiLang, NiLang.AD, Test

@testset "sums and products" begin
    A, B, v, w = [1.0 2.0; 3.0 4.0], [0.5 1.0; 2.0 -1.0], [1.0, 2.0], [3.0, -1.0]
    @test i_sum(1.0, v)[1] == 4.0 && i_sum(0.0, exp, v)[1] ≈ exp(1.0) + exp(2.0)
    @test check_inv(i_sum, (1.0, v)) && check_grad(i_sum, (1.0, v); iloss=1)
    @test i_mul!(zeros(2, 2), A, B)[1] == A * B && i_mul!(zeros(2), A, v)[1] == A * v
    @test check_inv(i_mul!, (zeros(2, 2), A, B)) && check_inv(i_mul!, (zeros(2), A, v))
    @test i_dot(0.0, v, w)[1] == 1.0 && gradient(i_dot, (0.0, v, w); iloss=1)[2:3] == (w, v)
    @test i_norm2(0.0, w)[1] == 10.0 && gradient(i_norm2, (0.0, w); iloss=1)[2] == 2w
    @test i_axpy!(2.0, v, copy(w))[3] == [5.0, 3.0] && check_inv(i_axpy!, (2.0, v, w))
    @test i_affine!(zeros(2), A, v, w)[1] == A * w + v && check_inv(i_affine!, (zeros(2), A, v, w))
    @test i_sqdistance(0.0, v, w)[1] == 13.0 && gradient(i_sqdistance, (0.0, v, w); iloss=1)[3] == 2 * (w - v)
    @test check_inv(i_umm!, ([1.0 2.0; 3.0 4.0], [0.1, 0.2]))
end

@testset "statistics" begin
    a, b = [1.0, 2.0, 4.0], [2.0, 1.0, 5.0]
    @test i_mean_sum(0.0, 0.0, a)[1:2] == (7 / 3, 7.0) && check_inv(i_mean_sum, (0.0, 0.0, a))
    @test i_var_mean_sum(0.0, 0.0, 0.0, 0.0, a)[1] ≈ 7 / 3
    @test check_inv(i_var_mean_sum, (0.0, 0.0, 0.0, 0.0, a))
    @test gradient(i_var_mean_sum, (0.0, 0.0, 0.0, 0.0, a); iloss=1)[5] ≈ a .- 7 / 3
    @test i_normal_logpdf(0.0, 1.0, 0.5, 2.0)[1] ≈ -0.03125 - log(2.0) - log(2π) / 2
    @test gradient(i_normal_logpdf, (0.0, 1.0, 0.5, 2.0); iloss=1)[2:3] == (-0.125, 0.125)
    @test i_cor_cov(0.0, 0.0, a, b)[2] ≈ 8 / 3 && check_inv(i_cor_cov, (0.0, 0.0, a, b))
    @test gradient(i_cor_cov, (0.0, 0.0, a, b); iloss=2)[3] ≈ (b .- 8 / 3) / 2
end

@testset "learning" begin
    @test i_relu(0.0, 2.0)[1] == 2.0 && i_relu(0.0, -2.0)[1] == 0.0 && check_grad(i_relu, (0.0, 2.0); iloss=1)
    x, p = [0.1, 0.7, 0.2], [0.3, 0.3, 0.4]
    @test i_softmax_crossentropy(copy(x), p, 0, 0.0, 0.0, 0.0)[6] ≈ log(sum(exp.(x))) - dot(x, p)
    @test check_inv(i_softmax_crossentropy, (x, p, 0, 0.0, 0.0, 0.0))
    @test gradient(i_softmax_crossentropy, (x, p, 0, 0.0, 0.0, 0.0); iloss=6)[1] ≈ exp.(x) / sum(exp.(x)) - p
    @i function lse(y, x)
        @routine begin
            xs ← Float64[]
            at ← Int[]
            @zeros Float64 l o
            i_logsumexp(l, o, xs, at, x)
        end
        y += l
        ~@routine
    end
    @test lse(0.0, x)[1] ≈ log(sum(exp.(x)))
    @test check_inv(lse, (0.0, x)) && gradient(lse, (0.0, x); iloss=1)[2] ≈ exp.(x) / sum(exp.(x))
end

@testset "folds, filters and factorials" begin
    @i function folded(y, v)
        i_mapfoldl(exp, PlusEq(identity), y, v)
    end
    @i function positive(out, v)
        i_filter!((@skip! x -> x > 0), out, v)
    end
    @test folded(1.0, [0.5, 1.5])[1] ≈ 1.0 + exp(0.5) + exp(1.5)
    @test check_inv(folded, (1.0, [0.5, 1.5])) && check_grad(folded, (1.0, [0.5, 1.5]); iloss=1)
    @test positive(Float64[], [1.0, -2.0, 3.0])[1] == [1.0, 3.0]
    @test check_inv(positive, (Float64[], [1.0, -2.0, 3.0]))
    @test i_factorial(0, 5)[1] == 120 && check_inv(i_factorial, (0, 5))
    @test i_dirtymul(3, 4, 0) == (12, 4, 0) && check_inv(i_dirtymul, (3, 4, 0))
    @test i_dirtymul(3.0, 4.0, 0.0)[1] == 12.0
end
