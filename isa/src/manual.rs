//! The reference manual, generated from the table.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::class::GateClass;
use crate::encode::opcode;
use crate::extension::{Defines, Form};
use crate::inst::{Inst, Kind};
use crate::mnemonic::{ALIASES, families, lookup};
use crate::operand::OperandKind;
use crate::table::{Adjoint, Row, RowInfo, TableFn, Test, accumulator_class};
use crate::types::{Acc, Cond, Ty};

/// The manual's entry for one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The mnemonic with its suffixes.
    pub mnemonic: String,
    /// The operands, `rd, a, b`.
    pub operands: String,
    /// The semantics as a formula, if there is one.
    pub formula: String,
    /// Documentation.
    pub docs: String,
    /// The inverse's mnemonic; `None` if there is none.
    pub inverse: Option<String>,
    /// The gate classes that an execution exercises.
    pub classes: Vec<&'static str>,
    /// Whether the table has partial derivatives, so that gradients flow through the instruction.
    pub differentiable: bool,
    /// The effect on gradient words of an instruction other than an accumulate; `None` if there is none.
    pub gradient_words: Option<&'static str>,
    /// The opcode of the form with registers only.
    pub opcode: u16,
    /// PISA spellings.
    pub aliases: Vec<&'static str>,
}

fn joined(docs: &[&str]) -> String {
    docs.iter().map(|d| d.trim()).collect::<Vec<_>>().join(" ")
}

/// The manual's entry for one family.
pub fn entry(kind: Kind) -> Entry {
    let mnemonic = kind.mnemonic();
    let aliases = ALIASES.iter().filter(|(_, name)| *name == mnemonic).map(|(alias, _)| *alias).collect();
    let inverse = (!kind.is_irreversible()).then(|| kind.inverse().mnemonic());
    match kind {
        Kind::Accumulate { acc, inverse: partner, func, .. } => {
            let f = func.info();
            let sign = sign(acc, partner);
            let args = f.args.iter().map(|a| a.name).collect::<Vec<_>>().join(", ");
            let value = if f.name.is_empty() { args.clone() } else { format!("{}({args})", f.name) };
            Entry {
                mnemonic,
                operands: format!("y, {args}"),
                formula: format!("y {sign} {value}"),
                docs: joined(f.docs),
                inverse,
                classes: vec![f.class.key(), accumulator_class(acc, f.ty).key()],
                differentiable: is_differentiable(kind),
                gradient_words: None,
                opcode: opcode(kind, false),
                aliases,
            }
        }
        Kind::Row { row, cond, ty, .. } => {
            let r = row.info();
            let label_only = r.test == Test::Optional && cond == Cond::Always;
            let operands: Vec<&str> = r
                .operand_names
                .iter()
                .zip(r.operands)
                .filter(|(_, k)| !label_only || **k == OperandKind::Label)
                .map(|(n, _)| *n)
                .collect();
            let formula = if cond == Cond::Always { String::new() } else { format!("a {} b", cond.symbol()) };
            let docs = if r.types.len() > 1 {
                format!("{} Reads {} words.", joined(r.docs), ty.name())
            } else {
                joined(r.docs)
            };
            Entry {
                mnemonic,
                operands: operands.join(", "),
                formula,
                docs,
                inverse,
                classes: vec![r.class.key()],
                differentiable: false,
                gradient_words: (r.adjoint != Adjoint::Discrete).then(|| r.adjoint.doc()),
                opcode: opcode(kind, false),
                aliases,
            }
        }
        Kind::Extension { extension, inverse: partner } => {
            let info = extension.info();
            let names: Vec<&str> = info.definition.parameters.iter().map(|p| p.name.as_str()).collect();
            let mut classes: Vec<GateClass> = info.steps[0].iter().flat_map(Inst::classes).collect();
            classes.sort_unstable();
            classes.dedup();
            let (operands, formula) = match (&info.definition.defines, info.form) {
                (Defines::Function { expression, .. }, Form::Function { acc, .. }) => {
                    (format!("y, {}", names.join(", ")), format!("y {} {expression}", sign(acc, partner)))
                }
                _ => (names.join(", "), String::new()),
            };
            Entry {
                mnemonic,
                operands,
                formula,
                docs: info.definition.docs.join(" "),
                inverse,
                classes: classes.iter().map(|c| c.key()).collect(),
                differentiable: info.steps[0].iter().any(|step| is_differentiable(step.kind)),
                gradient_words: Some("change as by its steps"),
                opcode: opcode(kind, false),
                aliases,
            }
        }
    }
}

/// The sign of an accumulator, or of its partner.
fn sign(acc: Acc, partner: bool) -> &'static str {
    match (acc, partner) {
        (Acc::Add, false) => "+=",
        (Acc::Add, true) => "-=",
        (Acc::Xor, _) => "^=",
        (Acc::Mul, false) => "*=",
        (Acc::Mul, true) => "/=",
    }
}

/// Whether gradients flow through an instruction of the table.
fn is_differentiable(kind: Kind) -> bool {
    match kind {
        Kind::Accumulate { acc, func, .. } => func.info().partials > 0 && acc != Acc::Xor,
        Kind::Row { row, .. } => row.info().adjoint != Adjoint::Discrete,
        Kind::Extension { .. } => false,
    }
}

/// The entry for a mnemonic or an alias.
pub fn find(mnemonic: &str) -> Option<Entry> {
    lookup(&mnemonic.to_ascii_lowercase()).map(entry)
}

/// The entries whose mnemonics contain all of these words. If there are none, the entries that contain them in the PISA spelling, the
/// formula or the documentation. Case does not matter.
pub fn search(words: &str) -> Vec<Entry> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let all: Vec<Entry> = families().map(entry).collect();
    let has = |text: &str| words.iter().all(|word| text.contains(word.as_str()));
    let named: Vec<Entry> = all.iter().filter(|e| has(&e.mnemonic)).cloned().collect();
    if !named.is_empty() {
        return named;
    }
    let whole = |e: &Entry| {
        format!("{} {} {} {} {}", e.mnemonic, e.operands, e.formula, e.docs, e.aliases.join(" ")).to_lowercase()
    };
    all.into_iter().filter(|e| has(&whole(e))).collect()
}

/// One entry as text.
pub fn text_of(e: &Entry) -> String {
    let mut out = format!("{} {}\n", e.mnemonic, e.operands);
    if !e.formula.is_empty() {
        let _ = writeln!(out, "    {}", e.formula);
    }
    if !e.docs.is_empty() {
        let _ = writeln!(out, "    {}", e.docs);
    }
    let _ = writeln!(out, "    inverse: {}", e.inverse.as_deref().unwrap_or("none"));
    let _ = writeln!(out, "    gates: {}    opcode: {:#06x}", e.classes.join(" + "), e.opcode);
    if e.differentiable {
        let _ = writeln!(out, "    differentiable: carries gradients");
    }
    if let Some(words) = e.gradient_words {
        let _ = writeln!(out, "    gradient words: {words}");
    }
    if !e.aliases.is_empty() {
        let _ = writeln!(out, "    also written: {}", e.aliases.join(", "));
    }
    out
}

/// Every instruction, one line each.
pub fn summary() -> String {
    let mut out = String::from(
        "Accumulate: `y ⊕= f(a[, b[, c]])`. Operands are registers, constants and at most one memory word; with three sources, registers.\n\n",
    );
    for ty in Ty::ALL {
        let accs: Vec<String> = Acc::ALL
            .into_iter()
            .filter(|a| a.accepts(ty))
            .map(|a| {
                if a.self_inverse() { a.name(false).to_string() } else { format!("{}/{}", a.name(false), a.name(true)) }
            })
            .collect();
        let _ = writeln!(out, "  {} words{}: {} with", ty.name(), dotted(ty), accs.join(", "));
        for func in TableFn::ALL.iter().map(|f| f.info()).filter(|f| f.ty == ty) {
            let name =
                if func.name.is_empty() { "(none)".to_string() } else { function_name(func.name, func.ty, func.from) };
            let _ = writeln!(out, "    {name:<10} {}", joined(func.docs));
        }
    }
    out.push_str("\nOther instructions:\n\n");
    for row in Row::ALL {
        let r = row.info();
        let _ = writeln!(out, "  {:<24} {}", row_heading(r), joined(r.docs));
    }
    out.push_str("\n`pendula isa MNEMONIC` shows one, `pendula isa --markdown` the whole manual.\n");
    out
}

fn dotted(ty: Ty) -> String {
    if ty == Ty::Int { String::new() } else { format!(" ({})", ty.suffix()) }
}

fn function_name(name: &str, ty: Ty, from: Ty) -> String {
    if ty == from { name.to_string() } else { format!("{name}.{}{}", ty.letter(), from.source_suffix()) }
}

fn row_heading(r: &RowInfo) -> String {
    let cond = match r.test {
        Test::None => "",
        Test::Optional => "[.cond]",
        Test::Required => ".cond",
    };
    let ty = if r.types == [Ty::F] {
        ".f"
    } else if r.types.len() > 1 {
        "[.type]"
    } else {
        ""
    };
    match r.partner {
        Some(p) => format!("{}{cond}{ty} / {p}{cond}{ty}", r.mnemonic),
        None => format!("{}{cond}{ty}", r.mnemonic),
    }
}

/// The whole manual as Markdown.
pub fn markdown() -> String {
    let mut out = String::from(
        "# The instructions\n\n<!-- Generated by `pendula isa --markdown` from the table in isa/src/table.rs. Do not edit. -->\n\n\
         Every instruction is a partial bijection on the machine's state. Words are 64 bits wide; an instruction's\n\
         suffix says how it reads them: none for integers, `.q` fixed point, `.l` logarithmic, `.f` floating point.\n\n\
         ## Accumulate instructions\n\n\
         `y ⊕= f(a[, b])`: the accumulator's name, then the function's, then the type. The destination is a register or a memory\n\
         word; sources are registers, constants or a memory word; at most one operand is in memory. With three sources, all are\n\
         registers.\n\n\
         | accumulator | partner | meaning | types |\n|---|---|---|---|\n",
    );
    for acc in Acc::ALL {
        let types: Vec<&str> = Ty::ALL.into_iter().filter(|t| acc.accepts(*t)).map(Ty::name).collect();
        let meaning = match acc {
            Acc::Add => "y += f, y −= f",
            Acc::Xor => "y ^= f, bit by bit",
            Acc::Mul => "y *= f, y /= f",
        };
        let _ = writeln!(out, "| `{}` | `{}` | {meaning} | {} |", acc.name(false), acc.name(true), types.join(", "));
    }
    for ty in Ty::ALL {
        let _ = writeln!(out, "\n### Functions of {} words{}\n", ty.name(), dotted(ty));
        out.push_str("| function | example | gates | gradient | meaning |\n|---|---|---|---|---|\n");
        let acc = if ty == Ty::L { Acc::Mul } else { Acc::Add };
        for &func in TableFn::ALL {
            let f = func.info();
            if f.ty != ty {
                continue;
            }
            let shape = crate::operand::Shape::of_registers(f.args.len());
            let e = entry(Kind::Accumulate { acc, inverse: false, func, shape });
            let name = if f.name.is_empty() { "identity".to_string() } else { format!("`{}`", f.name) };
            let _ = writeln!(
                out,
                "| {name} | `{} {}` | {} | {} | {} |",
                e.mnemonic,
                e.operands,
                f.class.key(),
                if f.partials > 0 { "yes" } else { "" },
                e.docs
            );
        }
    }
    out.push_str("\n## Other instructions\n");
    for row in Row::ALL {
        let r = row.info();
        let _ = writeln!(out, "\n### `{}`\n\n{}\n", row_heading(r), joined(r.docs));
        if !r.operands.is_empty() {
            let operands: Vec<String> =
                r.operand_names.iter().zip(r.operands).map(|(n, k)| format!("`{n}` ({})", k.doc())).collect();
            let _ = writeln!(out, "Operands: {}.", operands.join(", "));
        }
        let types: Vec<&str> = r.types.iter().map(|t| t.name()).collect();
        let inverse = match r.partner {
            Some(p) => format!("`{p}`"),
            None if *row == Row::Erase => "none".to_string(),
            None => "itself".to_string(),
        };
        let _ = write!(out, "Types: {}. Inverse: {inverse}. Gates: {}.", types.join(", "), r.class.key());
        if r.adjoint != Adjoint::Discrete {
            let _ = write!(out, " Gradient words: {}.", r.adjoint.doc());
        }
        out.push('\n');
    }
    out.push_str("\n## Conditions\n\n| suffix | holds when | types |\n|---|---|---|\n");
    for cond in Cond::TESTS {
        let types: Vec<&str> = Ty::ALL.into_iter().filter(|t| cond.accepts(*t)).map(Ty::name).collect();
        let _ = writeln!(out, "| `.{}` | a {} b | {} |", cond.name(), cond.symbol(), types.join(", "));
    }
    out.push_str("\n## PISA spellings\n\n| spelling | instruction |\n|---|---|\n");
    for (alias, name) in ALIASES {
        let _ = writeln!(out, "| `{alias}` | `{name}` |");
    }
    out.push_str("\n## Gate classes\n\n| class | circuit |\n|---|---|\n");
    for class in GateClass::ALL {
        let _ = writeln!(out, "| {} | {} |", class.key(), class.doc());
    }
    out
}

/// One entry as JSON.
pub fn json_of(e: &Entry) -> Value {
    json!({
        "mnemonic": e.mnemonic,
        "operands": e.operands,
        "formula": e.formula,
        "doc": e.docs,
        "inverse": e.inverse,
        "gates": e.classes,
        "differentiable": e.differentiable,
        "gradient_words": e.gradient_words,
        "opcode": e.opcode,
        "aliases": e.aliases,
    })
}

/// The whole manual as JSON: `{"instructions": […], "gates": […]}`.
pub fn json() -> Value {
    let instructions: Vec<Value> = families().map(|k| json_of(&entry(k))).collect();
    let gates: Vec<Value> = GateClass::ALL.iter().map(|c| json!({"name": c.key(), "doc": c.doc()})).collect();
    json!({ "instructions": instructions, "gates": gates })
}
