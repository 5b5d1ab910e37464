-- Derivatives with known values: of integers, nested, of functions with free variables, in several directions.

-- ==
-- entry: fourth
-- input { [1, 2, 3] } output { [24, 48, 72] }
def power4 [n] (x: [n]i32) = map (\y -> y * y * y * y) x
entry fourth [n] (x: [n]i32) =
  let ones = replicate n 1
  in vjp (\x -> vjp (\x -> vjp power4 x ones) x ones) x ones

-- ==
-- entry: turns turns_back
-- input { 9 3 } output { 19683 59049 }
def repeated (n: i32) (x: i32) =
  (loop (i, y) = (0, 1) while i < n do (i + 1, y * x)).1
entry turns n x = jvp2 (repeated n) x 1
entry turns_back n x = vjp2 (repeated n) x 1

-- ==
-- entry: confusion confusion_back
-- input { 1 2 } output { 1 }
entry confusion x y = jvp (\a -> jvp (\b -> a * b) y 1) x 1i32
entry confusion_back x y = vjp (\a -> vjp (\b -> a * b) y 1) x 1i32

-- ==
-- entry: jacobians
-- input { [1.0, 2.0, 3.0, 4.0] } output { true true }
def windows (x: [4]f64) : [2]f64 =
  map (\w -> w[0] - w[1] * w[0])
      (map (map f64.sum) (tabulate_3d 2 2 3 (\k i j -> x[(k + j) % 4] * x[(i + j) % 4])))
entry jacobians (x: [4]f64) =
  let columns = tabulate 4 (\i -> jvp windows x (replicate 4 0 with [i] = 1))
  let rows = tabulate 2 (\i -> vjp windows x (replicate 2 0 with [i] = 1))
  in (columns == transpose rows, any (any (!= 0)) rows)

-- ==
-- entry: prefixes
-- input { [1.0, 2.0, 3.0, 4.0] } output { [120.0, 61.0, 44.0, 48.0] true }
def weighted [n] (x: [n]f64) = f64.sum (map2 (*) (scan (*) 1 x) x)
entry prefixes [n] (x: [n]f64) =
  let reverse_mode = vjp weighted x 1
  let forward_mode = tabulate n (\i -> jvp weighted x (replicate n 0 with [i] = 1))
  in (reverse_mode, reverse_mode == forward_mode)

-- ==
-- entry: directions
-- input { [1.0, 2.0] } output { [[2.0, 1.0], [1.0, 1.0]] [[2.0, 1.0], [1.0, 1.0]] }
def products (x: [2]f64) : [2]f64 = [x[0] * x[1], x[0] + x[1]]
entry directions x = (mjp products x [[1, 0], [0, 1]], transpose (jmp products x [[1, 0], [0, 1]]))

-- ==
-- entry: hand
-- input { 3.0 } output { 9.0 100.0 6.0 }
def square (x: f64) = with_vjp (\y -> y * y) (\_ s -> s * 100) x
entry hand x = (square x, vjp square x 1, jvp square x 1)

-- ==
-- entry: kept
-- input { [2.0, 3.0] } output { [100.0, 100.0] [2.0, 3.0] }
entry kept [n] (x: [n]f64) =
  let f = with_vjp_tape (\y -> (map (* 2) y, y)) (\(tape, adj) -> map2 (\t a -> t * 0 + a * 100) tape adj)
  in (vjp f x (replicate n 1), f x)

-- ==
-- entry: kinks
-- input { 0.0 } output { 0.0 1.0 0.0 }
entry kinks (x: f64) = (vjp f64.abs x 1, vjp (\y -> f64.max y 0) x 1, vjp (** 2) x 1)

-- ==
-- entry: wholes
-- input { 7 } output { 1 343 -1 0 }
entry wholes (x: i32) =
  (vjp (\y -> i32.max y 3) x 1, vjp (\y -> y ** 4 / 4 * 4 + y ** 3) x 1 + 196, jvp i32.neg x 1, vjp (\y -> y % 3) x 1)

-- ==
-- entry: mixed
-- input { 2.5 } output { 0.0 1.0 3 }
entry mixed (x: f64) =
  (vjp (\y -> f64.i32 (i32.f64 y) * 0) x 1, vjp (\y -> f64.i32 (i32.f64 y)) x 1, jvp i32.f64 x 3)

-- ==
-- entry: functions
-- input { 3.0 4.0 } output { 1.0 0.0 }
def adder x = \y -> x + y : f64
entry functions x y = (jvp (\z -> adder z y) x 1, jvp (\a -> jvp (\b -> adder b y) a 1) x 1)

-- ==
-- entry: truths
-- input { true 2.0 } output { false 3.0 }
entry truths b x = vjp (\(c, y) -> if c then 3 * y else y) (b, x) 1f64
