# As in the host, a later definition takes the place of an earlier one.
#args: 1.0
#entry: g
@i function f(x)
    x += 1.0
end
@i function f(x)
    x += 5.0
end
@i function g(x)
    f(x)
end
#value: x = 6.0
