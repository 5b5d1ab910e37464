def g (a: f64) (b: f64) = vjp (\y -> f64.exp (y * b) * y) a 1
def f [n] (x: [n]f64) : f64 = g x[0] x[1] * jvp (\y -> y * y * x[2]) x[3] 0.5
