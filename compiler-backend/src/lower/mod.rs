//! stub
/// a
#[derive(Clone, Debug)]
pub struct Argument {
    /// n
    pub name: String,
    /// k
    pub kind: ArgumentKind,
}
/// k
#[derive(Clone, Debug)]
pub enum ArgumentKind {
    /// w
    Word {
        /// t
        ty: pendula_isa::Ty,
        /// v
        value: u64,
    },
    /// a
    Array {
        /// t
        ty: pendula_isa::Ty,
        /// w
        words: Vec<u64>,
        /// l
        lens: Vec<i64>,
    },
    /// c
    Constant(u64),
}
