def f [n] (x: [n]f64) : f64 = map2 (*) x (rotate 1 x) |> map f64.exp |> f64.sum
