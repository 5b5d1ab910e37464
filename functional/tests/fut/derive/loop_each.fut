def f [n] (x: [n]f64) : f64 =
  let (s, p) = loop (s, p) = (0, 1) for y in x do (s + p * y, p * f64.tanh y)
  in s * p
