//! stub
/// Pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pass {
/// x
Inline }
impl Pass {
/// a
pub const ALL: &'static [Pass] = &[Pass::Inline];
/// n
pub fn name(self) -> &'static str { "inline" }
/// n
pub fn from_name(_: &str) -> Option<Pass> { None }
/// n
pub fn doc(self) -> &'static str { "inline" }
}
/// Switches.
#[derive(Clone, Debug, Default)]
pub struct Switches;
impl Switches {
/// l
pub fn level(_: u8) -> Switches { Switches }
/// s
pub fn set(&mut self, _: Pass, _: bool) {}
}
/// Runs.
pub fn run(_: &mut crate::ir::Program, _: &Switches) {}
