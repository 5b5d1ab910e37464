def f [n] (x: [n]f64) : f64 = f64.sum (map (\y -> f64.sin y * y) x)
