def f [n] (x: [n]f64) : f64 =
  let plus = hist (+) 0 3 [0, 1, 0, 9] (map (\y -> y * y) x)
  let times = reduce_by_index (replicate 2 x[0]) (*) 1 [1, 0, 1, -1] x
  in f64.sum (map (** 2) plus) * f64.sum times
