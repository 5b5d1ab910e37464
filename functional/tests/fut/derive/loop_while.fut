def f [n] (x: [n]f64) : f64 =
  let (_, y) = loop (i, y) = (0i64, x[0] * x[1]) while i < 3 do (i + 1, y * y * 0.5 + x[2] * x[i])
  in y
