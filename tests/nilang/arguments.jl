# Parameters, arguments, types and views.
using NiLang, Test

@testset "keywords" begin
    @i function scaled(out, x; by=2.0)
        out += x * by
    end
    @test scaled(0.0, 3.0)[1] == 6.0
    @test scaled(0.0, 3.0; by=0.5)[1] == 1.5
    @test check_inv(scaled, (0.1, 2.0); by=0.25)
end

@testset "overloads" begin
    @i function name(n, x::Int)
        n += 1
    end
    @i function name(n, x::Float64)
        n += 2
    end
    @i function name(n, x::Vector)
        n += 3
    end
    @i function name(n, x::Tuple)
        n += 4
    end
    @test name(0, 1)[1] == 1
    @test name(0, 1.0)[1] == 2
    @test name(0, [1.0])[1] == 3
    @test name(0, (1, 2.0))[1] == 4
    @test check_inv(name, (0, 1)) && check_inv(name, (0, [1.0])) && check_inv(name, (0, (1, 2.0)))
end

@testset "scopes" begin
    @i function name(n, x)
        n += 10
    end
    @test name(0, 1)[1] == 10
    let
        @i function name(n, x)
            n += 20
        end
        @test name(0, 1)[1] == 20 && (~name)(20, 1)[1] == 0
    end
    @test name(0, 1)[1] == 10
end

@testset "parts" begin
    @i function part(x, z)
        x += z.re
        z.im += x
    end
    @test part(1.0, 2.0 + 3.0im) == (3.0, 2.0 + 6.0im)

    @i function element(x, v)
        v[2] += x
        x += v[end]
    end
    @test element(1.0, [1.0, 2.0, 4.0]) == (5.0, [1.0, 3.0, 4.0])
    @test check_inv(part, (1.0, 2.0 + 3.0im)) && check_inv(element, (1.0, [1.0, 2.0, 4.0]))

    @i function tuples(t)
        t.:1 += t.:2
    end
    @test tuples((1, 2)) == (3, 2)

    @i function view(y, x)
        y += x |> NEG
    end
    @i function negated(y, x)
        y += -x
    end
    @test negated(0.0, 2.0) == (-2.0, 2.0) && view(0.0, 2.0) == (-2.0, 2.0)
    @test check_inv(tuples, ((1, 2),)) && check_inv(view, (0.0, 2.0))
end

@testset "sizes" begin
    x = [1.0 2.0 3.0 4.0; 5.0 6.0 7.0 8.0]
    @i function area(y, x)
        m, n ← size(x)
        y += m * n
        m, n → size(x)
    end
    @test area(0, x)[1] == 8
    @test (~area)(8, x)[1] == 0
end

@testset "lent" begin
    @i function add3(y, x, t)
        t += x
        y += t
        t -= x
    end
    @i function whole(y, x)
        add3(y, x, 0.0)
    end
    @test whole(1.0, 2.0) == (3.0, 2.0)

    @i function skip(y, x)
        y += @const x
    end
    @test skip(1, 2) == (3, 2)
    @test check_inv(whole, (1.0, 2.0)) && check_inv(skip, (1, 2))
end

@testset "any number" begin
    @i function first(y, args...)
        y += args[1]
    end
    @test first(1, 2, 3) == (3, 2, 3)
    @test check_inv(first, (1, 2, 3))
end
