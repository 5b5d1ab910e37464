-- What every program sees. The core provides what `val` declares.

module intrinsics = {
  val add 'num : num -> num -> num
  val sub 'num : num -> num -> num
  val mul 'num : num -> num -> num
  val div 'num : num -> num -> num
  val mod 'num : num -> num -> num
  val pow 'num : num -> num -> num
  val quot 'int : int -> int -> int
  val rem 'int : int -> int -> int
  val band 'bits : bits -> bits -> bits
  val bor 'bits : bits -> bits -> bits
  val bxor 'bits : bits -> bits -> bits
  val shl 'int : int -> int -> int
  val shr 'int : int -> int -> int
  val lshr 'int : int -> int -> int
  val lt 'scalar : scalar -> scalar -> bool
  val le 'scalar : scalar -> scalar -> bool
  val gt 'scalar : scalar -> scalar -> bool
  val ge 'scalar : scalar -> scalar -> bool
  val eq 'a : a -> a -> bool
  val ne 'a : a -> a -> bool
  val neg 'num : num -> num
  val not 'bits : bits -> bits
  val max 'num : num -> num -> num
  val min 'num : num -> num -> num
  val abs 'num : num -> num
  val sgn 'num : num -> num
  val highest 'num : num
  val lowest 'num : num
  val one 'num : num
  val zero 'num : num
  val convert 'a 'b : a -> b
  val popc 'int : int -> i32
  val clz 'int : int -> i32
  val ctz 'int : int -> i32
  val mul_hi 'int : int -> int -> int

  val sqrt 'float : float -> float
  val cbrt 'float : float -> float
  val exp 'float : float -> float
  val log 'float : float -> float
  val log2 'float : float -> float
  val log10 'float : float -> float
  val log1p 'float : float -> float
  val sin 'float : float -> float
  val cos 'float : float -> float
  val tan 'float : float -> float
  val asin 'float : float -> float
  val acos 'float : float -> float
  val atan 'float : float -> float
  val sinh 'float : float -> float
  val cosh 'float : float -> float
  val tanh 'float : float -> float
  val asinh 'float : float -> float
  val acosh 'float : float -> float
  val atanh 'float : float -> float
  val atan2 'float : float -> float -> float
  val hypot 'float : float -> float -> float
  val gamma 'float : float -> float
  val lgamma 'float : float -> float
  val erf 'float : float -> float
  val erfc 'float : float -> float
  val ceil 'float : float -> float
  val floor 'float : float -> float
  val trunc 'float : float -> float
  val round 'float : float -> float
  val isinf 'float : float -> bool
  val isnan 'float : float -> bool
  val inf 'float : float
  val nan 'float : float
  val copysign 'float : float -> float -> float
  val f32_to_bits : f32 -> u32
  val f32_from_bits : u32 -> f32
  val f64_to_bits : f64 -> u64
  val f64_from_bits : u64 -> f64

  val length 'a [n] : [n]a -> i64
  val map 'a 'b [n] : (a -> b) -> [n]a -> [n]b
  val map2 'a 'b 'c [n] : (a -> b -> c) -> [n]a -> [n]b -> [n]c
  val map3 'a 'b 'c 'd [n] : (a -> b -> c -> d) -> [n]a -> [n]b -> [n]c -> [n]d
  val map4 'a 'b 'c 'd 'e [n] : (a -> b -> c -> d -> e) -> [n]a -> [n]b -> [n]c -> [n]d -> [n]e
  val map5 'a 'b 'c 'd 'e 'f [n] : (a -> b -> c -> d -> e -> f) -> [n]a -> [n]b -> [n]c -> [n]d -> [n]e -> [n]f
  val zip 'a 'b [n] : [n]a -> [n]b -> [n](a, b)
  val unzip 'a 'b [n] : [n](a, b) -> ([n]a, [n]b)
  val reduce 'a [n] : (a -> a -> a) -> a -> [n]a -> a
  val scan 'a [n] : (a -> a -> a) -> a -> [n]a -> [n]a
  val iota : (n: i64) -> [n]i64
  val replicate 'a : (n: i64) -> a -> [n]a
  val tabulate 'a : (n: i64) -> (i64 -> a) -> [n]a
  val concat 'a [n] [m] : [n]a -> [m]a -> [n + m]a
  val reverse 'a [n] : [n]a -> [n]a
  val rotate 'a [n] : i64 -> [n]a -> [n]a
  val transpose 'a [n] [m] : [n][m]a -> [m][n]a
  val flatten 'a [n] [m] : [n][m]a -> [n * m]a
  val unflatten 'a [n] [m] [l] : i64 -> i64 -> [l]a -> [n][m]a
  val gather 'a [n] [m] : [n]a -> [m]i64 -> [m]a
  val scatter 'a [n] [k] : [k]a -> [n]i64 -> [n]a -> [k]a
  val scatter_2d 'a [n] [k] [l] : [k][l]a -> [n](i64, i64) -> [n]a -> [k][l]a
  val scatter_3d 'a [n] [k] [l] [m] : [k][l][m]a -> [n](i64, i64, i64) -> [n]a -> [k][l][m]a
  val hist 'a [n] [k] : [k]a -> (a -> a -> a) -> a -> [n]i64 -> [n]a -> [k]a

  val jvp 'a 'b : (a -> b) -> a -> a -> b
  val vjp 'a 'b : (a -> b) -> a -> b -> a
  val jmp 'a 'b [n] : (a -> b) -> a -> [n]a -> [n]b
  val mjp 'a 'b [n] : (a -> b) -> a -> [n]b -> [n]a
  val jvp2 'a 'b : (a -> b) -> a -> a -> (b, b)
  val vjp2 'a 'b : (a -> b) -> a -> b -> (b, a)
  val jmp2 'a 'b [n] : (a -> b) -> a -> [n]a -> (b, [n]b)
  val mjp2 'a 'b [n] : (a -> b) -> a -> [n]b -> (b, [n]a)
  val with_vjp 'a 'b : (a -> b) -> (b -> b -> a) -> a -> b
}

def (+) = intrinsics.add
def (-) = intrinsics.sub
def (*) = intrinsics.mul
def (/) = intrinsics.div
def (%) = intrinsics.mod
def (**) = intrinsics.pow
def (//) = intrinsics.quot
def (%%) = intrinsics.rem
def (&) = intrinsics.band
def (|) = intrinsics.bor
def (^) = intrinsics.bxor
def (<<) = intrinsics.shl
def (>>) = intrinsics.shr
def (>>>) = intrinsics.lshr
def (<) = intrinsics.lt
def (<=) = intrinsics.le
def (>) = intrinsics.gt
def (>=) = intrinsics.ge
def (==) = intrinsics.eq
def (!=) = intrinsics.ne

def (&&) (x: bool) (y: bool) : bool = if x then y else false
def (||) (x: bool) (y: bool) : bool = if x then true else y
def not (x: bool) : bool = !x

-- Functions on functions.

def (|>) '^a '^b (x: a) (f: a -> b) : b = f x
def (<|) '^a '^b (f: a -> b) (x: a) : b = f x
def (>->) '^a '^b '^c (f: a -> b) (g: b -> c) (x: a) : c = g (f x)
def (<-<) '^a '^b '^c (g: b -> c) (f: a -> b) (x: a) : c = g (f x)
def id '^a (x: a) : a = x
def const '^a '^b (x: a) (_: b) : a = x
def flip '^a '^b '^c (f: a -> b -> c) (y: b) (x: a) : c = f x y
def curry '^a '^b '^c (f: (a, b) -> c) (x: a) (y: b) : c = f (x, y)
def uncurry '^a '^b '^c (f: a -> b -> c) (p: (a, b)) : c = f p.0 p.1
def iterate 'a (n: i32) (f: a -> a) (first: a) : a = loop x = first for _i < n do f x
def iterate_while 'a (p: a -> bool) (f: a -> a) (first: a) : a = loop x = first while p x do f x
def iterate_until 'a (p: a -> bool) (f: a -> a) (first: a) : a = loop x = first while !(p x) do f x
def r32 (x: i32) : f32 = intrinsics.convert x
def t32 (x: f32) : i32 = intrinsics.convert x
def r64 (x: i32) : f64 = intrinsics.convert x
def t64 (x: f64) : i32 = intrinsics.convert x
def opaque 't (x: t) : t = x
def trace 't (x: t) : t = x
def break 't (x: t) : t = x
def copy 't (x: t) : t = x
def manifest 't (x: t) : t = x

-- Arrays.

def map = intrinsics.map
def map1 = intrinsics.map
def map2 = intrinsics.map2
def map3 = intrinsics.map3
def map4 = intrinsics.map4
def map5 = intrinsics.map5
def zip = intrinsics.zip
def zip2 = intrinsics.zip
def zip3 'a 'b 'c [n] (xs: [n]a) (ys: [n]b) (zs: [n]c) : [n](a, b, c) = map3 (\x y z -> (x, y, z)) xs ys zs
def zip4 'a 'b 'c 'd [n] (xs: [n]a) (ys: [n]b) (zs: [n]c) (us: [n]d) : [n](a, b, c, d) =
  map4 (\x y z u -> (x, y, z, u)) xs ys zs us
def zip5 'a 'b 'c 'd 'e [n] (xs: [n]a) (ys: [n]b) (zs: [n]c) (us: [n]d) (vs: [n]e) : [n](a, b, c, d, e) =
  map5 (\x y z u v -> (x, y, z, u, v)) xs ys zs us vs
def unzip = intrinsics.unzip
def unzip2 = intrinsics.unzip
def unzip3 'a 'b 'c [n] (xs: [n](a, b, c)) : ([n]a, [n]b, [n]c) = (map (.0) xs, map (.1) xs, map (.2) xs)
def unzip4 'a 'b 'c 'd [n] (xs: [n](a, b, c, d)) : ([n]a, [n]b, [n]c, [n]d) =
  (map (.0) xs, map (.1) xs, map (.2) xs, map (.3) xs)
def unzip5 'a 'b 'c 'd 'e [n] (xs: [n](a, b, c, d, e)) : ([n]a, [n]b, [n]c, [n]d, [n]e) =
  (map (.0) xs, map (.1) xs, map (.2) xs, map (.3) xs, map (.4) xs)

def reduce = intrinsics.reduce
def reduce_comm = intrinsics.reduce
def scan = intrinsics.scan
def exscan 'a [n] (op: a -> a -> a) (ne: a) (xs: [n]a) : [n]a =
  let sums = scan op ne xs
  in intrinsics.tabulate n (\i -> if i == 0 then ne else sums[i - 1])
def hist 'a [n] (op: a -> a -> a) (ne: a) (k: i64) (is: [n]i64) (xs: [n]a) : [k]a =
  intrinsics.hist (intrinsics.replicate k ne) op ne is xs
def reduce_by_index = intrinsics.hist
def reduce_by_index_2d 'a [k] [m] [n] (dest: [k][m]a) (op: a -> a -> a) (ne: a) (is: [n](i64, i64)) (xs: [n]a) : [k][m]a =
  let flat (i: i64, j: i64) = if 0 <= i && i < k && 0 <= j && j < m then i * m + j else -1
  in intrinsics.unflatten k m (intrinsics.hist (intrinsics.flatten dest) op ne (map flat is) xs)
def reduce_by_index_3d 'a [k] [m] [l] [n] (dest: [k][m][l]a) (op: a -> a -> a) (ne: a) (is: [n](i64, i64, i64)) (xs: [n]a) : [k][m][l]a =
  let flat (h: i64, i: i64, j: i64) =
    if 0 <= h && h < k && 0 <= i && i < m && 0 <= j && j < l then (h * m + i) * l + j else -1
  let bins = intrinsics.hist (intrinsics.flatten (intrinsics.flatten dest)) op ne (map flat is) xs
  in intrinsics.unflatten k m (intrinsics.unflatten (k * m) l bins)
def all 'a [n] (p: a -> bool) (xs: [n]a) : bool = reduce (\x y -> x && y) true (map p xs)
def any 'a [n] (p: a -> bool) (xs: [n]a) : bool = reduce (\x y -> x || y) false (map p xs)
def and [n] (xs: [n]bool) : bool = all id xs
def or [n] (xs: [n]bool) : bool = any id xs
def scatter = intrinsics.scatter
def scatter_2d = intrinsics.scatter_2d
def scatter_3d = intrinsics.scatter_3d
def spread 'a [n] (k: i64) (x: a) (is: [n]i64) (xs: [n]a) : [k]a = scatter (intrinsics.replicate k x) is xs
def filter 'a [n] (p: a -> bool) (xs: [n]a) : ?[k].[k]a =
  let flags = map p xs
  let places = scan (+) 0 (map (\flag -> if flag then 1 else 0) flags)
  let count = if intrinsics.length xs == 0 then 0 else places[intrinsics.length xs - 1]
  let kept = map2 (\flag place -> if flag then place - 1 else -1) flags places
  in intrinsics.gather xs (scatter (intrinsics.replicate count 0) kept (intrinsics.iota (intrinsics.length xs)))
def partition 'a [n] (p: a -> bool) (xs: [n]a) : ?[k].([k]a, [n - k]a) =
  (filter p xs, filter (\x -> !(p x)) xs)
def partition2 'a [n] (p: a -> bool) (q: a -> bool) (xs: [n]a) : ?[k][l].([k]a, [l]a, [n - k - l]a) =
  ( filter p xs
  , filter (\x -> !(p x) && q x) xs
  , filter (\x -> !(p x) && !(q x)) xs
  )

def length = intrinsics.length
def null 'a [n] (xs: [n]a) : bool = intrinsics.length xs == 0
def head 'a [n] (xs: [n]a) : a = xs[0]
def last 'a [n] (xs: [n]a) : a = xs[intrinsics.length xs - 1]
def tail 'a [n] (xs: [n]a) : [n - 1]a = xs[1:]
def init 'a [n] (xs: [n]a) : [n - 1]a = xs[0:intrinsics.length xs - 1]
def take 'a [n] (k: i64) (xs: [n]a) : [k]a = xs[0:k]
def drop 'a [n] (k: i64) (xs: [n]a) : [n - k]a = xs[k:]
def sized 'a [m] (n: i64) (xs: [m]a) : [n]a = xs :> [n]a
def split 'a [n] [m] (xs: [n + m]a) : ([n]a, [m]a) =
  let k = if n >= 0 then n else intrinsics.length xs - m
  in (xs[0:k] :> [n]a, xs[k:] :> [m]a)
def reverse = intrinsics.reverse
def (++) = intrinsics.concat
def concat = intrinsics.concat
def iota = intrinsics.iota
def indices 'a [n] (xs: [n]a) : [n]i64 = intrinsics.iota (intrinsics.length xs)
def rotate = intrinsics.rotate
def replicate = intrinsics.replicate
def rep 'a [n] (x: a) : [n]a = intrinsics.replicate n x
def flatten = intrinsics.flatten
def flatten_3d 'a [n] [m] [l] (xs: [n][m][l]a) : [n * m * l]a = flatten (flatten xs)
def flatten_4d 'a [n] [m] [l] [k] (xs: [n][m][l][k]a) : [n * m * l * k]a = flatten (flatten_3d xs)
def unflatten 'a [n] [m] (xs: [n * m]a) : [n][m]a = intrinsics.unflatten n m xs
def unflatten_3d 'a [n] [m] [l] (xs: [n * m * l]a) : [n][m][l]a =
  intrinsics.unflatten n m (intrinsics.unflatten (n * m) l xs)
def unflatten_4d 'a [n] [m] [l] [k] (xs: [n * m * l * k]a) : [n][m][l][k]a =
  intrinsics.unflatten n m (intrinsics.unflatten (n * m) l (intrinsics.unflatten (n * m * l) k xs))
def transpose = intrinsics.transpose
def foldl 'a 'b [n] (f: a -> b -> a) (first: a) (xs: [n]b) : a = loop acc = first for x in xs do f acc x
def foldr 'a 'b [n] (f: b -> a -> a) (first: a) (xs: [n]b) : a = loop acc = first for x in reverse xs do f x acc
def tabulate = intrinsics.tabulate
def tabulate_2d 'a (n: i64) (m: i64) (f: i64 -> i64 -> a) : [n][m]a = tabulate n (\i -> tabulate m (f i))
def tabulate_3d 'a (n: i64) (m: i64) (l: i64) (f: i64 -> i64 -> i64 -> a) : [n][m][l]a =
  tabulate n (\i -> tabulate m (\j -> tabulate l (f i j)))

-- The results of all elements behind each other, with the number that each gives, flags where each begins, and offsets.
def flatmap 'a 'b 'c [n] (f: a -> ?[k].([k]b, c)) (xs: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c) =
  let parts = map f xs
  let counts = map (\part -> intrinsics.length part.0) parts
  let ends = scan (+) 0 counts
  let offsets = map2 (-) ends counts
  let total = if n == 0 then 0 else ends[n - 1]
  let owner =
    intrinsics.hist (intrinsics.replicate total 0) (intrinsics.max) 0
                    (map2 (\o k -> if k == 0 then -1 else o) offsets counts) (intrinsics.iota n)
    |> scan intrinsics.max 0
  let flags = tabulate total (\i -> offsets[owner[i]] == i)
  let data = tabulate total (\i -> parts[owner[i]].0[i - offsets[owner[i]]])
  in (counts, flags, offsets, data, map (.1) parts)

def flatmap' 'a 'b [n] (f: a -> ?[k].[k]b) (xs: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b) =
  let (counts, flags, offsets, data, _) = flatmap (\x -> (f x, ())) xs
  in (counts, flags, offsets, data)

-- Derivatives.

def jvp2 = intrinsics.jvp2
def vjp2 = intrinsics.vjp2
def jmp2 = intrinsics.jmp2
def mjp2 = intrinsics.mjp2
def jvp = intrinsics.jvp
def vjp = intrinsics.vjp
def jmp = intrinsics.jmp
def mjp = intrinsics.mjp
def with_vjp = intrinsics.with_vjp
def with_vjp_tape 'a 'b 'c (f: a -> (c, b)) (g: (c, b) -> a) (x: a) : b =
  (with_vjp f (\res adj -> g (res.0, adj.1)) x).1
