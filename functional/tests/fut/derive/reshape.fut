def f [n] (x: [n]f64) : f64 =
  let a : [2][2]f64 = unflatten (x :> [2 * 2]f64)
  in a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0] * f64.sum (flatten (transpose a))
