//! Mnemonics: all spellings from the table and the PISA aliases, mapped to the instruction's family.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::inst::Kind;
use crate::operand::Shape;
use crate::table::{Row, TableFn, Test};
use crate::types::{Acc, Cond};

/// PISA spellings and the mnemonics that they stand for.
pub const ALIASES: &[(&str, &str)] = &[
    ("addi", "add"),
    ("subi", "sub"),
    ("xori", "xor"),
    ("andx", "xorand"),
    ("andix", "xorand"),
    ("orx", "xoror"),
    ("orix", "xoror"),
    ("norx", "xornor"),
    ("sltx", "xorlt"),
    ("sltix", "xorlt"),
    ("sllx", "xorshl"),
    ("sllvx", "xorshl"),
    ("srlx", "xorshr"),
    ("srlvx", "xorshr"),
    ("srax", "xorsar"),
    ("sravx", "xorsar"),
    ("rl", "rol"),
    ("rlv", "rol"),
    ("rr", "ror"),
    ("rrv", "ror"),
];

/// Every family: each instruction once, with the smallest shape or form of its operands.
pub fn families() -> impl Iterator<Item = Kind> {
    let accumulates = TableFn::ALL.iter().flat_map(|&func| {
        let f = func.info();
        let shape = Shape::of_registers(f.args.len());
        Acc::ALL.into_iter().filter(move |a| a.accepts(f.ty)).flat_map(move |acc| {
            let both: &[bool] = if acc.self_inverse() { &[false] } else { &[false, true] };
            both.iter().map(move |&inverse| Kind::Accumulate { acc, inverse, func, shape })
        })
    });
    let rows = Row::ALL.iter().flat_map(|&row| {
        let info = row.info();
        let both: &[bool] = if info.partner.is_some() { &[false, true] } else { &[false] };
        both.iter().flat_map(move |&inverse| {
            info.types.iter().flat_map(move |&ty| {
                let plain = (info.test != Test::Required && (info.test == Test::None || ty == crate::types::Ty::Int))
                    .then_some(Cond::Always);
                let tests: &[Cond] = if info.test == Test::None { &[] } else { &Cond::TESTS };
                plain
                    .into_iter()
                    .chain(tests.iter().copied().filter(move |c| c.accepts(ty)))
                    .map(move |cond| Kind::Row { row, inverse, ty, cond, form: false })
            })
        })
    });
    accumulates.chain(rows)
}

static TABLE: LazyLock<HashMap<String, Kind>> = LazyLock::new(|| {
    let mut table: HashMap<String, Kind> = families().map(|k| (k.mnemonic(), k)).collect();
    for (alias, name) in ALIASES {
        if let Some(&kind) = table.get(*name) {
            table.insert((*alias).to_string(), kind);
        }
    }
    table
});

/// The family with this mnemonic or alias, in lower case.
pub fn lookup(mnemonic: &str) -> Option<Kind> {
    TABLE.get(mnemonic).copied()
}

/// The known mnemonic closest to a misspelt one, if one is close.
pub fn suggest(mnemonic: &str) -> Option<&'static str> {
    TABLE
        .keys()
        .map(|k| (distance(k.as_bytes(), mnemonic.as_bytes()), k.as_str()))
        .filter(|(d, k)| *d <= 1 + k.len() / 4)
        .min()
        .map(|(_, k)| k)
}

/// The edit distance, with transposition of neighbours.
pub fn distance(a: &[u8], b: &[u8]) -> usize {
    if a.len().abs_diff(b.len()) > 3 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_families_share_a_mnemonic() {
        let mut seen = HashMap::new();
        for kind in families() {
            assert_eq!(seen.insert(kind.mnemonic(), kind), None, "{}", kind.mnemonic());
        }
        for (alias, name) in ALIASES {
            assert!(seen.contains_key(*name), "{alias} stands for an unknown {name}");
            assert!(!seen.contains_key(*alias), "{alias} is an instruction of its own");
        }
    }

    #[test]
    fn misspellings_find_their_neighbours() {
        assert_eq!(suggest("addmlu"), Some("addmul"));
        assert_eq!(suggest("swpa"), Some("swap"));
        assert_eq!(suggest("completely-else"), None);
    }
}
