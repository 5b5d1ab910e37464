# Tropical(x), and sums with the zero of tropical numbers, which is minus infinity.
#args: 0.0,3.0
using NiLang
@i function f(y, x)
    t ← Tropical(x)
    u ← zero(Tropical)
    y += content(u + t) + content(t + zero(Tropical{Float64}))
    y += content(one(Tropical) * (zero(Tropical) + t))
    u → zero(Tropical)
    t → Tropical(x)
end
#value: y = 9.0
#grad: y x=3
