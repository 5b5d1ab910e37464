-- The module of truth values.

module bool = {
  type t = bool
  def i8 : i8 -> bool = intrinsics.convert
  def i16 : i16 -> bool = intrinsics.convert
  def i32 : i32 -> bool = intrinsics.convert
  def i64 : i64 -> bool = intrinsics.convert
  def u8 : u8 -> bool = intrinsics.convert
  def u16 : u16 -> bool = intrinsics.convert
  def u32 : u32 -> bool = intrinsics.convert
  def u64 : u64 -> bool = intrinsics.convert
  def f32 : f32 -> bool = intrinsics.convert
  def f64 : f64 -> bool = intrinsics.convert
  def bool : bool -> bool = intrinsics.convert
}
