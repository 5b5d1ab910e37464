def f [n] (x: [n]f64) : f64 = reduce (\a b -> a * b + a + b) 0 x
