-- A derivative by hand that is the right one.
def square (y: f64) : f64 = with_vjp (\z -> z * z * z) (\r s -> s * 3 * (r / f64.cbrt r)) y
def f [n] (x: [n]f64) : f64 = square x[0] * x[1] + f64.sum (map square x[2:4])
