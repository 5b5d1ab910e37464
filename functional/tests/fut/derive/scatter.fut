def f [n] (x: [n]f64) : f64 =
  let y = scatter (replicate 5 1) [3, 1, 7, 1] (map (** 2) x)
  in f64.product y + f64.sum (spread 3 0.5 [0, 2] x[0:2])
