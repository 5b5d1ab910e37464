def f [n] (x: [n]f64) : f64 =
  let a = tabulate_2d n n (\i j -> x[i] * x[j] + f64.i64 (i - j))
  let b = map (\row -> map (\column -> f64.sum (map2 (*) row column)) (transpose a)) a
  in f64.sum (flatten b) / 100
