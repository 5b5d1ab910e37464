//! The state of a machine after a run, as text and as JSON.

use std::fmt::Write as _;

use pendula::asm::diagnostic::plural;
use pendula::compiler::janus::store::{Shape, Variable};
use pendula::isa::text::number;
use pendula::isa::types::{Reg, Ty};
use pendula::language;
use pendula::layout::Layouts;
use pendula::values::{self, Location, Place};
use pendula::vm::Machine;
use serde_json::{Map, Value, json};

use crate::cli::report::answer::{array, nested};

/// The maximum number of elements printed of an array that is not named.
pub(crate) const ELEMENTS: usize = 64;

/// The results of a run, before anything else happens to the machine.
pub(crate) struct State {
    pub(crate) text: String,
    pub(crate) json: Map<String, Value>,
}

/// Options for the state shown after a run.
#[derive(Clone, Copy)]
pub(crate) struct StateOptions<'a> {
    /// The places that `--show` names.
    pub(crate) shown: &'a [Place],
    /// The variables of a Janus program.
    pub(crate) store: Option<&'a [Variable]>,
    /// The array layouts of a Nil program.
    pub(crate) layouts: &'a Layouts,
    /// If results are saved, the only places that are printed.
    pub(crate) printed: Option<&'a [Place]>,
    /// Print raw words.
    pub(crate) hex: bool,
    /// After a run backward, also show the imported data.
    pub(crate) reverse: bool,
}

impl State {
    /// The results; for a Janus program, the variables of `main`. `before` are the initial registers.
    pub(crate) fn of(machine: &Machine<'_>, before: &[u64; Reg::COUNT], wanted: &StateOptions<'_>) -> State {
        let StateOptions { shown, store, layouts, printed, hex, reverse } = *wanted;
        let mut text = String::new();
        let mut json = Map::new();
        let names = (machine.program().module(), store);
        let language = language::of(names);
        let (places, cells) = match shown {
            [] => language.shown(names, machine, before, reverse),
            shown => (shown.to_vec(), Vec::new()),
        };
        // Saved places are not printed, and registers are not printed then either.
        let is_printed = |place: &Place| printed.is_none_or(|list| list.iter().any(|p| p.name == place.name));
        let limit = if shown.is_empty() { ELEMENTS } else { usize::MAX };
        let mut values = Map::new();
        for place in &places {
            if is_printed(place) {
                let _ = writeln!(text, "{} = {}", place.head(), values::text(machine, place, hex, limit));
            }
            values.insert(place.name.clone(), place_json(machine, place, layouts, hex));
        }
        for (n, (at, _)) in cells.iter().enumerate() {
            let place = Place::narrow(format!("[{at}]"), Location::Cell(*at));
            values.insert(place.name.clone(), place_json(machine, &place, layouts, hex));
            if printed.is_some() {
                continue;
            }
            if n < ELEMENTS {
                let _ = writeln!(text, "{} = {}", place.name, values::text(machine, &place, hex, limit));
            } else if n == ELEMENTS {
                let _ = writeln!(text, "… {} cells in all", cells.len());
            }
        }
        let output = machine.output();
        if !output.is_empty() {
            let words: Vec<String> = output.iter().map(|w| w.cast_signed().to_string()).collect();
            let _ = writeln!(text, "output = [{}]", words.join(", "));
        }
        if language.shows_headers() {
            let bits = 32 * output.len();
            json.insert("emitted_bits".into(), json!(bits));
            if bits > 0 {
                let _ = writeln!(text, "{bits} bits emitted");
            }
        }
        let (read, given) = (machine.words_read(), machine.input().len());
        if given > 0 && read != if reverse { 0 } else { given } {
            let _ = writeln!(text, "input: {read} of {} read", plural(given, "word"));
        }
        json.insert("input_read".into(), json!(read));
        json.insert("values".into(), Value::Object(values));
        json.insert("output".into(), json!(output.iter().map(|w| w.cast_signed()).collect::<Vec<i64>>()));
        State { text, json }
    }
}

/// A place as JSON: integers and floats as numbers; fixed-point and logarithmic numbers as decimal strings, which are
/// exact. Arrays have the shape that they have in the source, in row-major order.
fn place_json(machine: &Machine<'_>, place: &Place, layouts: &Layouts, hex: bool) -> Value {
    let format = machine.program().module().flags.format;
    let one = |(n, w): (usize, u64)| match (place.ty, &place.variable) {
        _ if hex => json!(format!("{w:#018x}")),
        _ if w < 2 && place.is_truth(n) => json!(w == 1),
        (Ty::Int, Some(v)) if v.range().0 == 0 => json!(w),
        (Ty::Int, _) => json!(w.cast_signed()),
        (Ty::F, _) if f64::from_bits(w).is_finite() => json!(f64::from_bits(w)),
        (Ty::F | Ty::Q | Ty::L, _) => json!(number(w, place.ty, format)),
    };
    let words = values::words(machine, place);
    if let Some(v) = &place.variable {
        let mut list: Vec<Value> = v.words(&words).into_iter().enumerate().map(one).collect();
        return match &v.shape {
            Shape::Int(_) => list.pop().unwrap_or_default(),
            Shape::Stack => Value::Array(list),
            Shape::Array(_, dims) => {
                let lens: Vec<usize> = dims.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect();
                nested(&lens, &list)
            }
        };
    }
    if let Some(layout) = layouts.get(place) {
        let resized = place.growing.map(|_| layout.with_words(words.len()));
        let layout = resized.as_ref().unwrap_or(layout);
        return array(layout, &words.iter().copied().enumerate().map(one).collect::<Vec<_>>());
    }
    match place.at {
        Location::Memory { array: true, .. } => Value::Array(words.iter().copied().enumerate().map(one).collect()),
        Location::Memory { .. } | Location::Register(_) | Location::Cell(_) => {
            words.first().map_or(Value::Null, |w| one((0, *w)))
        }
    }
}
