-- Arithmetic, literals, conversions.

-- ==
-- entry: ints
-- input { 7 -2 } output { 5 9 -14 -4 -1 -3 1 49 }
entry ints (a: i32) (b: i32) = (a + b, a - b, a * b, a / b, a % b, a // b, a %% b, a ** (-b))

-- ==
-- entry: negative
-- input { 7 -2 } error: negative
entry negative (a: i32) (b: i32) = a ** b

-- ==
-- entry: bytes
-- input { 200u8 100u8 } output { 44u8 156u8 2u8 72u8 -56i8 }
entry bytes (a: u8) (b: u8) = (a + b, b - a, a / b, (a & b) | 8, i8.u8 a)

-- ==
-- entry: bits
-- input { 12 10 } output { 8 14 6 48 3 -13 2 28 2 }
entry bits (a: i32) (b: i32) = (a & b, a | b, a ^ b, a << 2, a >> 2, !a, i32.popc a, i32.clz a, i32.ctz a)

-- ==
-- entry: wraps
-- input { 2147483647 } output { -2147483648 2147483647 -2147483648 }
entry wraps (a: i32) = (a + 1, i32.highest, i32.lowest)

-- ==
-- entry: floats
-- input { 2.5 -1.0 } output { 1.5 -2.5 -2.5 2.0 3.0 2.5 -1.0 1.0 }
entry floats (a: f64) (b: f64) =
  (a + b, a * b, a / b, f64.trunc a, f64.ceil a, f64.max a b, f64.min a b, f64.abs b)

-- ==
-- entry: converts
-- input { 3.7 } output { 3 3.7f32 true 1.0 0i64 }
entry converts (x: f64) = (i32.f64 x, f32.f64 x, bool.f64 x, f64.bool true, i64.bool false)

-- ==
-- entry: literals
-- input { } output { 255 5u16 0.5 1000000i64 12.0 1.5 }
entry literals = (0xff, 0b101u16, 5e-1, 1_000_000i64, 12f64, 0x1.8p0)

-- ==
-- entry: compares
-- input { 1 2 } output { true false true false true false }
entry compares (a: i32) (b: i32) = (a < b, a > b, a <= b, a >= b, (a, b) == (1, 2), [a, b] != [1, 2])

-- ==
-- entry: logic
-- input { true false } output { false true false true }
entry logic a b = (a && b, a || b, !a, a != b)

-- ==
-- entry: order
-- input { 2.0 } output { 14.0 -8.0 16.0 5.0 }
entry order (x: f64) = (2 + 3 * x ** 2, -x ** 3, (-x) ** 4, x |> (+ 1) |> (+ 2))
