def f [n] (x: [n]f64) : f64 =
  let (a, b) = unzip (zip x (map (* 2) x))
  let (c, d, e) = unzip3 (zip3 a b x)
  in f64.sum (map4 (\p q r s -> p * q + r * s * s) c d e x)
