# A name in two scopes.
#args: 1.0
#entry: f
@testset "a" begin #! P0461 host code is skipped: 2 statements
    @i function f(x) #! P0455 `f` is defined in several scopes of the host @ f #? say which by its line: `--entry f@5`
        x += 1
    end
end
@testset "b" begin
    @i function f(x)
        x += 2
    end
end
