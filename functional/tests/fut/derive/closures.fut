def compose 'a 'b 'c (g: b -> c) (h: a -> b) (x: a) : c = g (h x)
def f [n] (x: [n]f64) : f64 =
  let scale k y = k * y * x[0]
  let g = scale x[1] >-> f64.sin >-> (+ x[2])
  in compose (scale x[3]) g x[0] * (g <-< scale 2) x[1]
