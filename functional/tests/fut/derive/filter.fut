def f [n] (x: [n]f64) : f64 =
  let (up, down) = partition (> 0) x
  in f64.product up * f64.sum (map f64.cosh down) + f64.sum (filter (< 1) x) ** 2
