def f [n] (x: [n]f64) : f64 =
  let (_, _, _, data, twice) = flatmap (\(k, y) -> (replicate k (y * y), y * 2)) (zip (iota n) x)
  in f64.sum data * f64.sum twice
