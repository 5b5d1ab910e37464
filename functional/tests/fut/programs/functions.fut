-- Definitions, local functions, operators of one's own, sections, modules.

def (+++) (a: i32) (b: i32) = a * 10 + b
def x `plus` y = x + y : i32
def twice 'a (f: a -> a) (x: a) = f (f x)

module vectors = {
  type vector = {x: f64, y: f64}
  local def square (a: f64) = a * a
  def norm (v: vector) = f64.sqrt (square v.x + square v.y)
  module deep = { def answer = 42i32 }
}

-- ==
-- entry: operators
-- input { 1 2 3 } output { 123 6 }
entry operators a b c = (a +++ b +++ c, a `plus` b `plus` c)

-- ==
-- entry: sections
-- input { 10 } output { 7 -7 5 20 100 }
entry sections (a: i32) = ((a -) 3, (3 -) a, (/ 2) a, twice (+ 5) a, (i32.* 10) a)

-- ==
-- entry: members
-- input { 3.0 4.0 } output { 5.0 42 8.0 }
entry members x y = (vectors.norm {x, y}, vectors.deep.answer, vectors.(norm {x = x + norm {x, y}, y = 0.0}))

-- ==
-- entry: opened
-- input { 6.0 8.0 } output { 10.0 }
open vectors
entry opened x y = norm {x, y}

-- ==
-- entry: polymorphic
-- input { 1 2.5 } output { 2.5 1 true }
def swap 'a 'b (p: (a, b)) = (p.1, p.0)
entry polymorphic (a: i32) (b: f64) =
  let both f = (f a, f (a + 1))
  let (y, x) = swap (a, b)
  in (y, x, both id == (1, 2))

-- ==
-- entry: partial
-- input { 4 } output { [0, 1, 4, 9] 30 }
entry partial (n: i64) =
  let squares = map (\i -> i32.i64 (i * i))
  let total = i32.sum <-< squares
  in (squares (iota n), total (iota (n + 1)))

-- ==
-- entry: shadowed
-- input { 5 } output { 12 }
entry shadowed (x: i32) =
  let x = x + 1
  let f y = x + y
  let x = 100
  in f 6 + x - 100

-- ==
-- entry: recursive
-- input { 10 } output { 55 }
def fibonacci (n: i32) : i32 = if n < 2 then n else fibonacci (n - 1) + fibonacci (n - 2)
entry recursive n = fibonacci n

-- ==
-- entry: curried
-- input { 2.0 } output { 8.0 6.0 }
entry curried (x: f64) = (uncurry (*) (x, 4), curry (\(a, b) -> a + b) x 4)
