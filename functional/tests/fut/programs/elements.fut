-- Elements of an array that a function captured: their sensitivities are added in place, so that long arrays take no quadratic time.

-- ==
-- entry: mapped
-- input { 3i64 } output { [2.0, 2.0, 2.0] }
-- input { 40i64 } output { [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0] }
entry mapped (n: i64): []f64 =
  vjp (\xs -> f64.sum (map (\i -> xs[i] * 2) (iota n))) (replicate n 1) 1

-- ==
-- entry: mapped_sum
-- input { 50000i64 } output { 100000.0 }
entry mapped_sum (n: i64): f64 = f64.sum (mapped n)

-- ==
-- entry: looped
-- input { 50000i64 } output { 2499950000.0 }
entry looped (n: i64): f64 =
  f64.sum (vjp (\xs -> loop s = 0 for i < n do s + xs[i] * f64.i64 (2 * i)) (replicate n 1) 1)

-- A few elements only, some of them more than once.
-- ==
-- entry: few
-- input { 20i64 } output { [3.0, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] }
entry few (n: i64): []f64 =
  vjp (\xs -> xs[3] * xs[0] + xs[3] * xs[3] / 2 + xs[n - 1]) (replicate n 1 with [0] = 4 with [3] = 3) 1

-- Second derivatives, forward over reverse, of a sum of cubes of elements.
-- ==
-- entry: curved
-- input { 2000i64 } output { 12000.0 }
entry curved (n: i64): f64 =
  f64.sum (jvp (\ys -> vjp (\xs -> f64.sum (map (\i -> xs[i] ** 3) (iota n))) ys 1) (replicate n 1) (replicate n 1))

-- Rows of a matrix.
-- ==
-- entry: rows
-- input { 3000i64 } output { 18000.0 }
entry rows (n: i64): f64 =
  f64.sum (flatten (vjp (\xss -> f64.sum (map (\i -> f64.sum (xss[i]) * 3) (iota n))) (replicate n (replicate 2 1)) 1))
