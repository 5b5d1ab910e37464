def f [n] (x: [n]f64) : f64 =
  let y = x[::-1]
  let z = y[1:3]
  in z[0] * z[1] + x[n - 1] * f64.sum y[::2] + f64.sum (concat x z) ** 2
