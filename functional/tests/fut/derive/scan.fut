def f [n] (x: [n]f64) : f64 = f64.sum (map2 (*) (scan (*) 1 x) x) + f64.sum (exscan (+) 0 (map (** 2) x))
