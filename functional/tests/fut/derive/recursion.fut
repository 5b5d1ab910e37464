def power (x: f64) (n: i64) : f64 = if n == 0 then 1 else x * power x (n - 1)
def tree [n] (x: [n]f64) (low: i64) (high: i64) : f64 =
  if high - low == 1 then x[low]
  else let middle = (low + high) / 2
       in tree x low middle * 2 + tree x low middle * tree x middle high
def f [n] (x: [n]f64) : f64 = power x[0] 3 + tree x 0 n
