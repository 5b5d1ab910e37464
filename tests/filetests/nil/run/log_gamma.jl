# The logarithm of the magnitude of the gamma function, with its sign.
#args: 0.0,0.0,-0.5,0.0,0.0,-1.5,0.0,0.0,4.0
@i function f(y, s, a, z, t, b, w, u, c)
    (y, s) += logabsgamma(a)
    (z, t) += logabsgamma(b)
    (w, u) += logabsgamma(c)
end
#value: s = -1.0
#value: t = 1.0
#value: u = 1.0
