-- The module of a number type, which stands for `T`.

module T = {
  type t = T
  def (+) : T -> T -> T = intrinsics.add
  def (-) : T -> T -> T = intrinsics.sub
  def (*) : T -> T -> T = intrinsics.mul
  def (/) : T -> T -> T = intrinsics.div
  def (%) : T -> T -> T = intrinsics.mod
  def (**) : T -> T -> T = intrinsics.pow
  def (==) : T -> T -> bool = intrinsics.eq
  def (!=) : T -> T -> bool = intrinsics.ne
  def (<) : T -> T -> bool = intrinsics.lt
  def (<=) : T -> T -> bool = intrinsics.le
  def (>) : T -> T -> bool = intrinsics.gt
  def (>=) : T -> T -> bool = intrinsics.ge
  def neg : T -> T = intrinsics.neg
  def max : T -> T -> T = intrinsics.max
  def min : T -> T -> T = intrinsics.min
  def abs : T -> T = intrinsics.abs
  def sgn : T -> T = intrinsics.sgn
  def highest : T = intrinsics.highest
  def lowest : T = intrinsics.lowest
  def i8 : i8 -> T = intrinsics.convert
  def i16 : i16 -> T = intrinsics.convert
  def i32 : i32 -> T = intrinsics.convert
  def i64 : i64 -> T = intrinsics.convert
  def u8 : u8 -> T = intrinsics.convert
  def u16 : u16 -> T = intrinsics.convert
  def u32 : u32 -> T = intrinsics.convert
  def u64 : u64 -> T = intrinsics.convert
  def f32 : f32 -> T = intrinsics.convert
  def f64 : f64 -> T = intrinsics.convert
  def bool : bool -> T = intrinsics.convert
  def to_i32 : T -> i32 = intrinsics.convert
  def to_i64 : T -> i64 = intrinsics.convert
  def to_f64 : T -> f64 = intrinsics.convert
  def sum [n] (xs: [n]T) : T = intrinsics.reduce (+) (intrinsics.zero) xs
  def product [n] (xs: [n]T) : T = intrinsics.reduce (*) (intrinsics.one) xs
  def maximum [n] (xs: [n]T) : T = intrinsics.reduce max lowest xs
  def minimum [n] (xs: [n]T) : T = intrinsics.reduce min highest xs
--int
  def (//) : T -> T -> T = intrinsics.quot
  def (%%) : T -> T -> T = intrinsics.rem
  def (&) : T -> T -> T = intrinsics.band
  def (|) : T -> T -> T = intrinsics.bor
  def (^) : T -> T -> T = intrinsics.bxor
  def (<<) : T -> T -> T = intrinsics.shl
  def (>>) : T -> T -> T = intrinsics.shr
  def (>>>) : T -> T -> T = intrinsics.lshr
  def not : T -> T = intrinsics.not
  def popc : T -> i32 = intrinsics.popc
  def clz : T -> i32 = intrinsics.clz
  def ctz : T -> i32 = intrinsics.ctz
  def mul_hi : T -> T -> T = intrinsics.mul_hi
  def mad_hi (a: T) (b: T) (c: T) : T = mul_hi a b + c
  def num_bits : i32 = popc (not (intrinsics.zero))
  def get_bit (bit: i32) (x: T) : i32 = to_i32 ((x >> i32 bit) & intrinsics.one)
  def set_bit (bit: i32) (x: T) (b: i32) : T =
    (x & not (intrinsics.one << i32 bit)) | (i32 (intrinsics.band b 1) << i32 bit)
--float
  def recip (x: T) : T = intrinsics.one / x
  def from_fraction (a: i64) (b: i64) : T = i64 a / i64 b
  def sqrt : T -> T = intrinsics.sqrt
  def rsqrt (x: T) : T = intrinsics.one / sqrt x
  def cbrt : T -> T = intrinsics.cbrt
  def exp : T -> T = intrinsics.exp
  def log : T -> T = intrinsics.log
  def log2 : T -> T = intrinsics.log2
  def log10 : T -> T = intrinsics.log10
  def log1p : T -> T = intrinsics.log1p
  def sin : T -> T = intrinsics.sin
  def cos : T -> T = intrinsics.cos
  def tan : T -> T = intrinsics.tan
  def asin : T -> T = intrinsics.asin
  def acos : T -> T = intrinsics.acos
  def atan : T -> T = intrinsics.atan
  def sinh : T -> T = intrinsics.sinh
  def cosh : T -> T = intrinsics.cosh
  def tanh : T -> T = intrinsics.tanh
  def asinh : T -> T = intrinsics.asinh
  def acosh : T -> T = intrinsics.acosh
  def atanh : T -> T = intrinsics.atanh
  def atan2 : T -> T -> T = intrinsics.atan2
  def hypot : T -> T -> T = intrinsics.hypot
  def gamma : T -> T = intrinsics.gamma
  def lgamma : T -> T = intrinsics.lgamma
  def erf : T -> T = intrinsics.erf
  def erfc : T -> T = intrinsics.erfc
  def pi : T = 3.141592653589793
  def e : T = 2.718281828459045
  def sinpi (x: T) : T = sin (pi * x)
  def cospi (x: T) : T = cos (pi * x)
  def tanpi (x: T) : T = tan (pi * x)
  def asinpi (x: T) : T = asin x / pi
  def acospi (x: T) : T = acos x / pi
  def atanpi (x: T) : T = atan x / pi
  def atan2pi (y: T) (x: T) : T = atan2 y x / pi
  def lerp (a: T) (b: T) (t: T) : T = a + (b - a) * t
  def ceil : T -> T = intrinsics.ceil
  def floor : T -> T = intrinsics.floor
  def trunc : T -> T = intrinsics.trunc
  def round : T -> T = intrinsics.round
  def mad (a: T) (b: T) (c: T) : T = a * b + c
  def fma (a: T) (b: T) (c: T) : T = a * b + c
  def isinf : T -> bool = intrinsics.isinf
  def isnan : T -> bool = intrinsics.isnan
  def inf : T = intrinsics.inf
  def nan : T = intrinsics.nan
  def copysign : T -> T -> T = intrinsics.copysign
--f32
  def to_bits : f32 -> u32 = intrinsics.f32_to_bits
  def from_bits : u32 -> f32 = intrinsics.f32_from_bits
  def epsilon : f32 = 1.1920928955078125e-7
  def num_bits : i32 = 32
--f64
  def to_bits : f64 -> u64 = intrinsics.f64_to_bits
  def from_bits : u64 -> f64 = intrinsics.f64_from_bits
  def epsilon : f64 = 2.220446049250313e-16
  def num_bits : i32 = 64
--end
}
