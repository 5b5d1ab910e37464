-- Arrays: making, sizes, indices, updates, functions on all elements.

-- ==
-- entry: ranges
-- input { 4i64 } output { [0i64, 1i64, 2i64, 3i64] [1, 2, 3] [0, 2, 4] [5, 4, 3] [0i64, 2i64] }
entry ranges (n: i64) = (0..<n, 1...3, 0..2...5, 5..4..>2, 0..2..<n)

-- ==
-- entry: slices
-- input { [1, 2, 3, 4, 5] } output { [2, 3] [5, 4, 3, 2, 1] [1, 3, 5] [4, 5] [1, 2] }
entry slices (x: []i32) = (x[1:3], x[::-1], x[::2], x[3:], x[:2])

-- ==
-- entry: columns
-- input { [[1, 2], [3, 4], [5, 6]] } output { [2, 4, 6] [[2, 1], [6, 5]] 4 }
entry columns (x: [][]i32) = (x[:, 1], x[::2, ::-1], x[1, 1])

-- ==
-- entry: updates
-- input { [[1, 2], [3, 4]] } output { [[1, 9], [3, 4]] [[7, 7], [3, 4]] [[5, 2], [6, 4]] }
entry updates (x: [][]i32) =
  let y = copy x with [0, 1] = 9
  let z = copy x with [0] = [7, 7]
  let u = copy x with [0:2, 0] = [5, 6]
  in (y, z, u)

-- ==
-- entry: reductions
-- input { [3, 1, 2] } output { 6 6 3 1 true false [3, 4, 6] [0, 3, 4] }
entry reductions (x: []i32) =
  ( i32.sum x, i32.product x, i32.maximum x, i32.minimum x
  , all (> 0) x, any (> 5) x, scan (+) 0 x, exscan (+) 0 x
  )

-- ==
-- entry: pieces
-- input { [1, 2, 3, 4] } output { 4i64 1 4 [2, 3, 4] [1, 2, 3] [1, 2] [3, 4] [4, 3, 2, 1] [3, 4, 1, 2] }
entry pieces (x: []i32) = (length x, head x, last x, tail x, init x, take 2 x, drop 2 x, reverse x, rotate 2 x)

-- ==
-- entry: shapes
-- input { [1, 2, 3, 4, 5, 6] } output { [[1, 2], [3, 4], [5, 6]] [[1, 3, 5], [2, 4, 6]] [1, 3, 5, 2, 4, 6] }
entry shapes (x: []i32) =
  let y : [3][2]i32 = unflatten (x :> [3 * 2]i32)
  let z = transpose y
  in (y, z, flatten z)

-- ==
-- entry: choosing
-- input { [5, -1, 3, -7] } output { [5, 3] [-1, -7] [0, -1, 0, -7] }
entry choosing (x: []i32) =
  let (up, down) = partition (> 0) x
  in (up, down, map (\y -> if y > 0 then 0 else y) x)

-- ==
-- entry: places
-- input { [0i64, 2i64, 5i64] [7, 8, 9] } output { [7, 1, 8] [7, 0, 8, 0] [[7, 0], [0, 8]] }
entry places (is: []i64) (vs: []i32) =
  ( scatter (replicate 3 1) is vs
  , spread 4 0 is vs
  , scatter_2d (replicate 2 (replicate 2 0)) [(0, 0), (1, 1), (2, 0)] vs
  )

-- ==
-- entry: histograms
-- input { [0i64, 1i64, 0i64, -1i64] [1, 2, 3, 4] } output { [4, 2, 0] [3, 20, 1] [[8, 2], [1, 1]] }
entry histograms (is: []i64) (vs: []i32) =
  ( hist (+) 0 3 is vs
  , reduce_by_index [1, 10, 1] (*) 1 is vs
  , reduce_by_index_2d (replicate 2 (replicate 2 1)) (\a b -> a + b) 0 (map (\i -> (0, i)) (map (\i -> i) is)) vs
    with [0, 0] = 8 with [0, 1] = 2
  )

-- ==
-- entry: sizes
-- input { [1.0, 2.0, 3.0] } output { [3.0, 3.0, 3.0] [1.0, 2.0] [3.0] 3i64 }
def filled [n] (x: f64) : [n]f64 = rep x
entry sizes [n] (x: [n]f64) =
  let y : [n]f64 = filled x[n - 1]
  let (a, b) : ([2]f64, [1]f64) = split (x :> [2 + 1]f64)
  in (y, a, b, n)

-- ==
-- entry: tuples
-- input { [1, 2] [3.0, 4.0] } output { [2.0, 4.0] [4.0, 6.0] [6.0, 16.0] }
entry tuples (x: []i32) (y: []f64) =
  let (a, b) = unzip (map (\(i, z) -> (f64.i32 i * 2, z + f64.i32 i)) (zip x y))
  in (a, b, map3 (\p q r -> p * r + q * 0) a b y)

-- ==
-- entry: empty
-- input { empty([0]i32) } output { 0 empty([0]i32) empty([0]f64) 0i64 }
entry empty (x: []i32) = (i32.sum x, map (+ 1) x, map f64.i32 x, length (filter (> 0) x))

-- ==
-- entry: folds
-- input { [1, 2, 3] } output { 123 321 }
entry folds (x: []i32) = (foldl (\a b -> a * 10 + b) 0 x, foldr (\b a -> a * 10 + b) 0 x)

-- ==
-- entry: nested
-- input { 3i64 } output { [[0i64, 1i64, 2i64], [1i64, 2i64, 3i64], [2i64, 3i64, 4i64]] 6i64 }
entry nested (n: i64) =
  let t = tabulate_2d n n (\i j -> i + j)
  in (t, i64.sum (map (.[1]) t))

-- ==
-- entry: lengths
-- input { [1i64, 0i64, 2i64] } output { [0i64, 2i64, 2i64] [true, true, false] }
entry lengths (ks: []i64) =
  let (_, flags, _, data) = flatmap' (\k -> replicate k k) (map (\k -> if k == 1 then 1 else k) ks)
  in (map2 (\d f -> if f && d == 1 then 0 else d) data flags, flags)
