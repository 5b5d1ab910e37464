//! Names and texts as numbers: every distinct string is stored once.
//!
//! Beside the string, an entry holds its invariable properties: whether it is a register, and (once requested) its
//! meaning at the start of a statement. [`symbols`](crate::symbols) holds what a name stands for in a program.

use pendula_isa::Reg;

use crate::head::Head;

/// A string of an [`Interner`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sym(u32);

impl Sym {
    /// The index for vectors with one element per string.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Info {
    start: u32,
    len: u32,
    hash: u32,
    /// Index into `heads`, plus 1; 0 if it has not been requested.
    head: u32,
    /// The register's number, or `NO_REGISTER`.
    register: u8,
}

const NO_REGISTER: u8 = u8::MAX;

/// The strings.
#[derive(Debug)]
pub(crate) struct Interner {
    text: String,
    infos: Vec<Info>,
    /// A hash table with open addressing. Entries are index + 1; 0 is free. The length is a power of two.
    table: Vec<u32>,
    heads: Vec<Head>,
}

impl Interner {
    pub(crate) fn new() -> Interner {
        Interner { text: String::new(), infos: Vec::new(), table: vec![0; 1 << 10], heads: Vec::new() }
    }

    /// The number of strings.
    pub(crate) fn len(&self) -> usize {
        self.infos.len()
    }

    /// The total number of bytes of the strings.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The number of a string, which is added if it is new. Strings beyond 4 GiB in total are refused before they get
    /// here.
    pub(crate) fn intern(&mut self, text: &str) -> Sym {
        let hash = hash(text.as_bytes());
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.table[at] {
                0 => break,
                n => {
                    let info = &self.infos[n as usize - 1];
                    if info.hash == hash && self.slice(info) == text {
                        return Sym(n - 1);
                    }
                }
            }
            at = (at + 1) & mask;
        }
        let number = self.infos.len() as u32;
        let register = Reg::parse(text).map_or(NO_REGISTER, Reg::number);
        let info = Info { start: self.text.len() as u32, len: text.len() as u32, hash, head: 0, register };
        self.infos.push(info);
        self.text.push_str(text);
        self.table[at] = number + 1;
        if self.infos.len() * 2 > self.table.len() {
            self.grow();
        }
        Sym(number)
    }

    fn grow(&mut self) {
        let mask = self.table.len() * 2 - 1;
        let mut table = vec![0; mask + 1];
        for (n, info) in self.infos.iter().enumerate() {
            let mut at = info.hash as usize & mask;
            while table[at] != 0 {
                at = (at + 1) & mask;
            }
            table[at] = n as u32 + 1;
        }
        self.table = table;
    }

    /// The number of a string that has been added.
    pub(crate) fn find(&self, text: &str) -> Option<Sym> {
        let hash = hash(text.as_bytes());
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(n) = self.table[at].checked_sub(1) {
            let info = &self.infos[n as usize];
            if info.hash == hash && self.slice(info) == text {
                return Some(Sym(n));
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn slice(&self, info: &Info) -> &str {
        let start = info.start as usize;
        self.text.get(start..start + info.len as usize).unwrap_or("")
    }

    /// The string.
    pub(crate) fn text(&self, sym: Sym) -> &str {
        self.infos.get(sym.index()).map_or("", |info| self.slice(info))
    }

    /// The register of this name.
    pub(crate) fn register(&self, sym: Sym) -> Option<Reg> {
        self.infos.get(sym.index()).and_then(|info| Reg::new(info.register))
    }

    /// The meaning of the string at the start of a statement, if [`set_head`](Interner::set_head) has set it.
    pub(crate) fn head(&self, sym: Sym) -> Option<Head> {
        let index = self.infos.get(sym.index())?.head.checked_sub(1)?;
        self.heads.get(index as usize).copied()
    }

    pub(crate) fn set_head(&mut self, sym: Sym, head: Head) {
        if let Some(info) = self.infos.get_mut(sym.index()) {
            self.heads.push(head);
            info.head = self.heads.len() as u32;
        }
    }
}

/// A multiplicative hash over eight bytes at a time. The final step makes the low bits depend on all bits.
fn hash(bytes: &[u8]) -> u32 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut h = bytes.len() as u64;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        h = (h.rotate_left(5) ^ u64::from_le_bytes(*chunk)).wrapping_mul(K);
    }
    let mut last = 0u64;
    for &b in rest {
        last = last << 8 | u64::from(b);
    }
    h = (h.rotate_left(5) ^ last).wrapping_mul(K);
    (h ^ h >> 32).wrapping_mul(K).rotate_left(24) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_keep_their_numbers() {
        let mut names = Interner::new();
        let numbers: Vec<_> = (0..5000).map(|n| names.intern(&format!("label{n}"))).collect();
        for (n, sym) in numbers.iter().enumerate() {
            assert_eq!(names.intern(&format!("label{n}")), *sym);
            assert_eq!(names.text(*sym), format!("label{n}"));
        }
        assert_eq!(names.len(), 5000);
        assert_eq!(names.find("label17"), Some(numbers[17]));
        assert_eq!(names.find("label"), None);
    }

    #[test]
    fn registers_are_known_in_any_case() {
        let mut names = Interner::new();
        let upper = names.intern("SP");
        assert_eq!(names.register(upper), Some(Reg::SP));
        let other = names.intern("r32");
        assert_eq!(names.register(other), None);
    }
}
