def f [n] (x: [n]f64) : f64 =
  let p = map f64.abs x
  in f64.log p[0] + f64.sqrt p[1] * f64.atan x[0] + f64.atan2 x[1] p[2] + p[2] ** x[3] + f64.tan x[3] + f64.lgamma p[2]
     + f64.erf x[0] + f64.hypot x[1] x[2] + f64.log10 p[1] + f64.cbrt p[2] + f64.recip x[2] + f64.asinh x[1]
