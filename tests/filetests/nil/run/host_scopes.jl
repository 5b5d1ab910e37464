# Functions inside of the host's blocks belong to their scopes.
#args: 1.0
#entry: main
@i function add(x)
    x += 1.0
end
@testset "inner" begin #! P0461 host code is skipped: 2 statements
    @i function add(x)
        x += 10.0
    end
    let y = 3
        @i function outer(x)
            add(x)
        end
    end
    begin
        @i function main(x)
            add(x)
            f(x)
            after(x)
        end
    end
    @i function f(x)
        x += 100.0
    end
    @test main(1.0) == 112.0
end
if true
    @i function after(x)
        add(x)
    end
end
#value: x = 112.0
