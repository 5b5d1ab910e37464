def f [n] (x: [n]f64) : f64 =
  let y = copy x with [1] = x[0] * x[2]
  let y[0:2] = map (* 2) y[2:4]
  let m = [x, y]
  let m[1, 2] = m[0, 0] * y[3]
  in f64.sum (map2 (*) m[0] m[1])
