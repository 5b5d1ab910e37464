def f [n] (x: [n]f64) : f64 = loop s = 1 for i < n do s * x[i] + f64.cos (s * f64.i64 i)
