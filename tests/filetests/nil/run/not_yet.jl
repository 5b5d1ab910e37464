# Constructs of NiLang that could be here and are not yet: each function is left out, with the reason.
#args: 1.0
#entry: good
using NiLang
const TABLE = [1.0 2.0; 3.0 4.0] #! P0461 host code is skipped: 1 statement
@i function tables(y::Float64)
    y += TABLE[1, 1] #! P0430 `tables` cannot be used: there is no `TABLE` here
end
@i function short_number(y::Float64)
    t ← 0f0 #! P0430 `short_number` cannot be used: there is no `f0` here
    t → 0f0
end
@i function good(x)
    x += 1.0
end
#value: x = 2.0
