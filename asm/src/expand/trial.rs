//! Tries a definition on words, to find what is wrong with it before a program uses it: temporaries that are not zero at the end, and
//! instructions that say they are their own inverse and are not. What no trial finds is checked as programs run, and by `pendula prove`.

use pendula_isa::extension::{Defines, Definition};
use pendula_isa::num::Format;
use pendula_isa::{Env, Ty};

use crate::codes;

/// The number of trials.
const TRIALS: u64 = 64;

/// A word for an operand in a trial.
fn word(ty: Ty, format: Format, trial: u64, n: usize) -> u64 {
    let seed = trial.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(n as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = seed ^ seed >> 29;
    let small = (seed >> 40) as i64 % 1000 - 500;
    match ty {
        // Whole words now and then; small numbers elsewhere, which do not overflow.
        Ty::Int if trial.is_multiple_of(2) => seed,
        Ty::Int => (small % 64).cast_unsigned(),
        Ty::Q => (small << (format.frac() - 6)).cast_unsigned(),
        Ty::L => (small << 20).cast_unsigned() << 1,
        Ty::F => (small as f64 / 64.0).to_bits(),
    }
}

/// Whether two words are the same number, but for what sums of doubles round.
fn agree(ty: Ty, a: u64, b: u64) -> bool {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    a == b || (ty == Ty::F && (x - y).abs() <= 1e-9 * (1.0 + x.abs() + y.abs()))
}

/// What is wrong with a definition: code, message, help.
pub(super) fn problem(definition: &Definition, env: Env) -> Option<(&'static str, String, String)> {
    let own_inverse = matches!(definition.defines, Defines::Instruction { partner: None });
    let operands = definition.operands();
    let (mut left, mut ran) = (None, 0);
    for trial in 0..TRIALS {
        let words: Vec<u64> = (0..operands).map(|n| word(definition.operand_type(n), env.format, trial, n)).collect();
        let Ok(after) = definition.run(env, &words, false) else { continue };
        let (after, temporaries) = after.split_at(operands);
        if definition.is_function() {
            continue;
        }
        let unclean = definition.temporaries.iter().zip(temporaries).find(|(t, word)| !agree(t.ty, **word, 0));
        if let Some((temporary, word)) = unclean {
            left.get_or_insert((temporary, *word, words));
            continue;
        }
        ran += 1;
        if own_inverse && let Ok(again) = definition.run(env, after, false) {
            let differs = (0..operands).find(|n| !agree(definition.operand_type(*n), again[*n], words[*n]));
            if let Some(n) = differs {
                let name = &definition.parameters[n].name;
                let shown = |w: u64| pendula_isa::text::number(w, definition.operand_type(n), env.format);
                let message = format!(
                    "`{}` is not its own inverse: run twice, it takes {name} = {} to {}",
                    definition.name,
                    shown(words[n]),
                    shown(again[n])
                );
                let help = format!("name the inverse: `.instr {} / NAME …`", definition.name);
                return Some((codes::OWN_INVERSE, message, help));
            }
        }
    }
    // One that is zero in some states may be so whenever the instruction is used.
    if let (0, Some((temporary, word, words))) = (ran, left) {
        let shown = |ty: Ty, w: u64| pendula_isa::text::number(w, ty, env.format);
        let given = definition.parameters.iter().zip(&words).map(|(p, w)| format!("{} = {}", p.name, shown(p.ty, *w)));
        let message = format!(
            "the temporary `{}` is not zero at the end of `{}`: with {} it is {}",
            temporary.name,
            definition.name,
            given.collect::<Vec<_>>().join(", "),
            shown(temporary.ty, word)
        );
        let help = "undo what made it, in the opposite order, at the end".to_string();
        return Some((codes::UNCLEAN, message, help));
    }
    None
}
