# A key of a dictionary is given twice.
#args: 0.0
using NiLang
@i function f(y)
    d ← Dict(1 => 1.0, 1 => 2.0) #! P0453 the key 1 is given twice
end
