-- Loops, choices, sums, records, patterns.

type tree = #leaf | #one i32 | #two i32 (i32, bool)

-- ==
-- entry: loops
-- input { 5i64 } output { 120i64 8i64 10i64 [1, 2, 4, 8, 16] }
entry loops (n: i64) =
  ( loop x = 1 for i < n do x * (i + 1)
  , loop x = 1 while x < n do x * 2
  , loop x = 0 for y in iota n do x + y
  , loop a = replicate n 1 for i < n - 1 do a with [i + 1] = a[i] * 2
  )

-- ==
-- entry: states
-- input { 10 } output { 55 89 }
entry states (n: i32) =
  let (a, b) = loop (a, b) = (0, 1) for _i < n do (b, a + b)
  in (a, b)

-- ==
-- entry: unnamed
-- input { 3 4 } output { 81 }
entry unnamed (x: i32) (n: i32) =
  let y = 1
  in loop y for _i < n do y * x

-- ==
-- entry: below_zero
-- input { -3 } output { 7 }
entry below_zero (n: i32) = loop x = 7i32 for _i < n do x + 1

-- ==
-- entry: sums
-- input { 0 } output { 0 } input { 1 } output { 10 } input { 2 } output { 205 } input { 3 } output { 3 }
def make (n: i32) : tree = if n == 0 then #leaf else if n == 1 then #one 10 else #two 5 (n, n == 2)
entry sums n = match make n
  case #two a (b, true) -> a + b * 100
  case #two _ (b, _) -> b
  case #one a -> a
  case #leaf -> 0

-- ==
-- entry: literals
-- input { -1 } output { 10 } input { 5 } output { 50 } input { 6 } output { 6 }
entry literals (x: i32) = match x case -1 -> 10 case 5 -> 50 case y -> y

-- ==
-- entry: pairs
-- input { 1 true } output { 1 } input { 2 false } output { 2 } input { 3 true } output { 5 }
entry pairs (x: i32) (y: bool) = match (x, y) case (1, _) -> 1 case (_, false) -> 2 case (a, true) -> a + 2

-- ==
-- entry: records
-- input { 1.0 2.0 } output { 2.0 1.0 5.0 }
type point = {x: f64, y: f64}
def flip_point ({x, y}: point) : point = {y = x, x = y}
entry records a b =
  let p = flip_point {x = a, y = b}
  let q = p with x = 5
  in (p.x, p.y, q.x)

-- ==
-- entry: fields
-- input { 3 } output { 3 4 7 }
entry fields (a: i32) =
  let t = (a, (a + 1, {deep = a + 4}))
  in (t.0, t.1.0, (.1.1.deep) t)

-- ==
-- entry: asserts
-- input { 4 } output { 2 }
-- input { -4 } error: Assertion
entry asserts (x: i32) = assert (x > 0) (x / 2)

-- ==
-- entry: outside
-- input { [1, 2] 1i64 } output { 2 }
-- input { [1, 2] 2i64 } error: Index
-- input { [1, 2] -1i64 } error: Index
entry outside (x: []i32) (i: i64) = x[i]

-- ==
-- entry: coerced
-- input { [1, 2] 2i64 } output { [1, 2] }
-- input { [1, 2] 3i64 } error: size
entry coerced (x: []i32) (n: i64) = x :> [n]i32

-- ==
-- entry: divided
-- input { 0 } error: zero
-- input { 2 } output { 5 }
entry divided (x: i32) = 10 / x

-- ==
-- entry: lazy
-- input { 0 } output { false }
entry lazy (x: i32) = x != 0 && 10 / x > 1

-- ==
-- input { 2 } output { 3 }
def main (x: i32) = x + 1

-- ==
-- entry: parts
-- input { [1, 2] } output { [1, 5] 7 [9, 2] 6 2 }
entry parts (x: []i32) =
  let p = {xs = copy x, deep = {n = 1}}
  let p.xs[1] = 5
  let p.deep.n = 7
  let a = [p, p] with [0].xs[0] = 9
  let a[0].xs[1] = 2
  in (p.xs, p.deep.n, a[0].xs, length "länge" |> i32.i64, (.xs[1]) a[0])

-- ==
-- entry: letters
-- input { } output { [true, false, true] }
entry letters = map (== 'a') "aba"
