//! What the targets check of text and files that hold numbers.

use std::fs;
use std::path::PathBuf;

use pendula::items::Items;
use pendula::values::Location;
use pendula::{arguments, arrays, values};
use pendula_hw_model::Technology;
use pendula_hw_model::price::{Activity, Bill, Conditions, Device, Dirty, Phase};
use pendula_isa::budget::Budget;
use pendula_isa::num::{Format, decimal};
use pendula_isa::text::number;
use pendula_isa::types::{Reg, Ty};
use pendula_vm::{Config, Machine, Outcome, Program};

/// Reads a word of any type and format as its text and back; the word is near a short decimal, or any.
pub fn word(bytes: &[u8]) {
    let [how, offset, power, rest @ ..] = bytes else { return };
    let format = Format::ALL[usize::from(how % 4) % Format::ALL.len()];
    let ty = Ty::ALL[usize::from(how / 4) % Ty::ALL.len()];
    let digits = rest.iter().take(8).fold(0u64, |n, b| n << 8 | u64::from(*b));
    let near = |text: &str| match ty {
        Ty::Int => Some(digits),
        Ty::Q => decimal::parse_q(text, format).ok(),
        Ty::L => decimal::parse_l(text).ok(),
        Ty::F => decimal::parse_f(text).ok(),
    };
    let sign = if how & 0x40 == 0 { "" } else { "-" };
    let text = format!("{sign}{digits}e{}", i32::from(power.cast_signed()));
    let Some(word) = (if how & 0x80 == 0 { near(&text) } else { Some(digits) }) else { return };
    let word = word.wrapping_add(u64::from(*offset)).wrapping_sub(128);
    let text = number(word, ty, format);
    let read = match ty {
        Ty::Int => text.parse::<i64>().ok().map(i64::cast_unsigned),
        Ty::Q => decimal::parse_q(&text, format).ok(),
        Ty::L => decimal::parse_l(&text).ok(),
        Ty::F => decimal::parse_f(&text).ok(),
    };
    assert_eq!(read, Some(word), "{ty:?} {format:?} {text}");
    let source =
        format!(" .format {}\n .data\n .{} {text}\n", format.name(), ["word", "fixed", "log", "double"][ty as usize]);
    let module = crate::assembly(&source).module.expect("a number is a constant");
    assert_eq!(module.data.to_vec(), [word], "{source}");
}

/// A technology file, and what a program costs under it: an error, or figures that are numbers.
pub fn technology(text: &str) {
    let Ok(technology) = Technology::parse(text) else { return };
    let module = crate::assembly(STATE).module.expect("a program");
    let program = Program::new(module, true).expect("a program");
    let mut machine = Machine::new(&program, &Config { mem: Some(100), ..Config::default() }).expect("a machine");
    assert_eq!(machine.run(None), Outcome::Finished);
    let conditions = Conditions { hertz: None, volt: None, kelvin: None, memory_words: 100, frac: 32, width: 64 };
    let Ok(device) = Device::new(&technology, conditions) else { return };
    let (phase, counts) = (Phase::Forward, machine.counts());
    let dirty = Dirty { registers: 1, memory: 1 };
    let activity = Activity { phase, counts, words_in: 1, words_out: 1, dirty };
    let bill = Bill::new(&device, program.module(), &[activity]);
    assert!(bill.total().total().is_finite(), "{text}");
}

/// A file of numbers: the first byte says of which kind and how it is read.
pub fn array(bytes: &[u8]) {
    let [how, bytes @ ..] = bytes else { return };
    let path = |ending: &str| -> PathBuf {
        std::env::temp_dir().join(format!("pendula-fuzz-{}.{ending}", std::process::id()))
    };
    let path = path(if how & 1 == 0 { "csv" } else { "npy" });
    fs::write(&path, bytes).expect("a temporary file");
    let name = path.to_str().expect("a path in UTF-8");
    match how / 2 % 3 {
        0 => drop(arrays::read(name, usize::from(how / 6))),
        1 => drop(arrays::read_shaped(name)),
        _ => drop(Items::read(name)),
    }
}

const STATE: &str = "        .data
        .import i, q, l, f, many
        .export i, q, l, f, many
i:      .word   1
q:      .fixed  1
l:      .log    1
f:      .double 1
many:   .space  6, f
        .text
main:   start
        finish
";

/// Text on the command line: `--set`, `--args`, `--show`.
pub fn values(text: &str) {
    // Nothing is read from files.
    if text.contains('@') {
        return;
    }
    // A few characters may stand for as many numbers as a machine has words.
    drop(arguments::parse_within(text, &Budget { words: 1 << 12, ..Budget::default() }));
    let module = crate::assembly(STATE).module.expect("a program");
    let program = Program::new(module, true).expect("a program");
    let mut machine = Machine::new(&program, &Config { mem: Some(100), ..Config::default() }).expect("a machine");
    drop(values::set(&mut machine, text));
    drop(values::tape(program.module(), text));
    if let Ok(place) = values::find(program.module(), text) {
        let shown = values::text(&machine, &place, false, usize::MAX);
        // What is shown can be set, but for `r0`.
        if place.at != Location::Register(Reg::ZERO) && !shown.contains('\n') {
            let before = values::words(&machine, &place).into_owned();
            values::set(&mut machine, &format!("{}={shown}", place.head())).expect("what is shown can be set");
            assert_eq!(values::words(&machine, &place).into_owned(), before, "{shown}");
        }
    }
}
