# Numbers of other sizes, characters and texts have no types here.
#args: 1.0,2,3,4
#entry: f
using NiLang
@i function f(x::Float32, n::Int32, c::Char, s::String) #! P0432 there is no type `Float32` @ Float32
    x += 1
end
