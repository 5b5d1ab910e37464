type shape = #square f64 | #box f64 f64 | #none
def area (s: shape) : f64 = match s
  case #square a -> a * a
  case #box a b -> a * b * b
  case #none -> 1
def f [n] (x: [n]f64) : f64 =
  let shapes: [3]shape = [#square x[0], #box x[1] x[2], #none]
  in f64.sum (map area shapes) * area (#square x[3])
