def f [n] (x: [n]f64) : f64 =
  let y = loop y = copy x for i < n - 1 do y with [i + 1] = y[i] * y[i + 1] + x[i]
  in f64.sum y
