# What dictionaries do not have.
#args: 0.0
using NiLang
@i function f(y)
    d ← Dict{Int,Float64}()
    y += length(d) #! P0446 a dictionary has no length here @ length(d)
    for x in d #! P0446 a loop over a dictionary @ d
        y += x
    end
    d → Dict{Int,Float64}()
    e ← Dict{Float64,Int}() #! P0446 keys that are no whole numbers @ Float64
    g ← Dict(0 => 1.0) #! P0446 a key that is not known here @ 0
    h ← Dict{Int,Vector{Float64}}() #! P0446 the values of a dictionary are numbers
    GLOBAL_STACK[end] ↔ (A::Vector{Float64})::∅ #! P0446 an array is not taken from a stack as a whole @ A
end
