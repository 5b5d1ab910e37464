def g (y: f64) = if y > 1 then y * y * y else if y < -1 then f64.exp y else y * 2
def f [n] (x: [n]f64) : f64 = f64.sum (map g x) * g x[2]
