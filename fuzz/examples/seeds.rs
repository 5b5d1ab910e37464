//! Writes seeds for the corpora, and dictionaries of the languages' words: `cargo run --example seeds` in `fuzz/`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pendula_asm::definitions::text;
use pendula_asm::object;
use pendula_isa::encode::{Pool, encode};
use pendula_isa::mnemonic::{ALIASES, families};
use pendula_isa::sample::{RandomProgram, Source, extension, instruction};
use pendula_isa::{Format, Kind};

fn write(target: &str, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let folder = Path::new("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

/// The source files under a folder.
fn walk(folder: &Path, extension: &str, out: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, extension, out)?;
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
    Ok(())
}

/// The source files of examples, benchmarks and file tests, in order.
fn sources(extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in ["../examples", "../benches", "../tests/filetests"] {
        walk(Path::new(folder), extension, &mut files)?;
    }
    files.sort();
    Ok(files)
}

/// Programs in Nil, Janus and PISA, and the representation of those in Nil.
fn programs() -> io::Result<()> {
    for (n, path) in sources("nil")?.iter().enumerate() {
        let text = fs::read_to_string(path)?;
        write("nil", &format!("file-{n:03}"), &text)?;
        for (level, name) in [(0, "plain"), (2, "improved")] {
            if let Some(program) = pendula_fuzz::compiled::represented(&text, level) {
                write("representation", &format!("{name}-{n:03}"), program)?;
            }
        }
    }
    for (n, path) in sources("jl")?.iter().enumerate() {
        write("nilang", &format!("file-{n:03}"), fs::read(path)?)?;
    }
    for (n, path) in sources("isa")?.iter().enumerate() {
        write("definitions", &format!("file-{n:03}"), fs::read(path)?)?;
    }
    for seed in 0..200 {
        let Some(Kind::Extension { extension, .. }) = extension(&mut Source::seeded(seed)) else { continue };
        let definition = &extension.info().definition;
        if !definition.is_function() {
            write("definitions", &format!("sample-{seed:03}"), text(definition, Format::default()))?;
        }
    }
    for (target, extension) in [("vlad", "vlad"), ("futhark", "fut")] {
        for (n, path) in sources(extension)?.iter().enumerate() {
            write(target, &format!("file-{n:03}"), fs::read(path)?)?;
        }
    }
    for (n, path) in sources("ja")?.iter().enumerate() {
        write("janus", &format!("file-{n:03}"), fs::read(path)?)?;
    }
    for (n, path) in sources("pisa")?.iter().enumerate() {
        let text = fs::read_to_string(path)?;
        for (mode, first) in [("plain", ""), ("bugs", "; bugs\n"), ("strict", "; strict\n")] {
            if mode == "plain" || n % 8 == 0 {
                write("pisa", &format!("{mode}-{n:03}"), format!("{first}{text}"))?;
            }
        }
    }
    Ok(())
}

/// Technologies, files of numbers, and what is written on the command line.
fn numbers() -> io::Result<()> {
    let mut files = Vec::new();
    walk(Path::new("../hw-model/technologies"), "toml", &mut files)?;
    for (n, path) in files.iter().enumerate() {
        write("technology", &format!("preset-{n}"), fs::read(path)?)?;
    }
    let header = |text: &str| {
        let text = format!("{text:<117}\n");
        [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), text.as_bytes()].concat()
    };
    let types = ["<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1", "<c16", "<c8", ">f8"];
    for (n, ty) in types.iter().enumerate() {
        for (m, (order, shape)) in [("False", "(3,)"), ("True", "(2, 3)"), ("False", "()")].iter().enumerate() {
            let header = header(&format!("{{'descr': '{ty}', 'fortran_order': {order}, 'shape': {shape}, }}"));
            for how in [1, 3, 5] {
                write("arrays", &format!("npy-{n}-{m}-{how}"), [&[how], &header[..], &[63; 96]].concat())?;
            }
        }
    }
    let texts = ["1,2\n3,4\n", "# c\n1.5\n-2e3\n", "a,b\n1,2\n", "\"1\",\"2\"\r\n3,4", "1,2\n3\n", "1\r2\r3"];
    for (n, text) in texts.iter().enumerate() {
        for how in [0, 2, 4] {
            write("arrays", &format!("csv-{n}-{how}"), [&[how], text.as_bytes()].concat())?;
        }
    }
    let values = [
        "i=5",
        "i=-0x7f",
        "i=0xffw",
        "q=1.5",
        "l=1e300",
        "f=0.1",
        "many=[1,2,3,4,5,6]",
        "many[2]=1e-310",
        "r3.q=2.25",
        "i",
        "q",
        "l",
        "f",
        "many",
        "many[1]",
        "r31.f",
        "(1,2.5),[1,2,3]",
        "[1 2; 3 4]",
        "[(1,2),(3,4)]",
        "[1.0;]",
        "1,2,3",
    ];
    for (n, text) in values.iter().enumerate() {
        write("values", &format!("text-{n}"), text)?;
    }
    let mut s = Source::seeded(7);
    for n in 0..256 {
        let digits = s.below(1 << 20).to_be_bytes();
        let (how, offset, power) = (n as u8, 126 + s.below(5) as u8, s.below(40) as u8);
        write("word", &format!("near-{n:03}"), [&[how, offset, power.wrapping_sub(20)], &digits[..]].concat())?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    programs()?;
    numbers()?;
    for (n, path) in sources("rasm")?.iter().enumerate() {
        let text = fs::read_to_string(path)?;
        if let Some(Ok(bytes)) = pendula_fuzz::assembly(&text).module.map(|m| object::write(&m)) {
            write("object", &format!("file-{n:03}"), bytes)?;
        }
        write("assemble", &format!("file-{n:03}"), text)?;
    }
    for seed in 0..64u64 {
        let mut s = Source::seeded(seed);
        let choices: Vec<u8> = (0..64 + 16 * seed).map(|_| s.below(256) as u8).collect();
        write("program", &format!("choices-{seed:02}"), &choices)?;
        write("engines", &format!("choices-{seed:02}"), &choices)?;
        let text = RandomProgram::new(&mut s, seed as usize).text();
        if let Some(Ok(bytes)) = pendula_fuzz::assembly(&text).module.map(|m| object::write(&m)) {
            write("object", &format!("draft-{seed:02}"), bytes)?;
        }
        write("assemble", &format!("draft-{seed:02}"), text)?;
    }
    for (n, family) in families().enumerate() {
        let (mut pool, mut s) = (Pool::default(), Source::seeded(n as u64));
        let words: Vec<u64> = (0..12).map(|_| encode(&instruction(family, &mut s), &mut pool)).collect();
        let mut bytes = vec![pool.words().len() as u8];
        bytes.extend(pool.words().iter().chain(&words).flat_map(|w| w.to_le_bytes()));
        write("decode", &format!("family-{n:03}"), bytes)?;
    }
    let directives = [
        ".text",
        ".data",
        ".word",
        ".quad",
        ".fixed",
        ".double",
        ".log",
        ".space",
        ".import",
        ".export",
        ".global",
        ".mem",
        ".format",
        ".include",
        ".equ",
        ".macro",
        ".endm",
        ".routine",
        ".endroutine",
        ".unroutine",
        ".endunroutine",
        ".proc-doc",
        ".irreversible",
        "Q32.32",
        "Q21.43",
        "Q16.48",
        "r31",
        "sp",
        "[r1+r2+1]",
        "1.5q",
        "0x7fffffffw",
    ];
    let names = families().map(|k| k.mnemonic()).chain(ALIASES.iter().map(|(alias, _)| (*alias).to_string()));
    dictionary("assemble.dict", names.chain(directives.map(String::from)))?;
    for extension in ["nil", "ja", "pisa"] {
        let mut words = BTreeSet::new();
        for path in sources(extension)? {
            let text = fs::read_to_string(path)?;
            let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_!@.".contains(c)));
            // Words of the language stand in many files, and begin with a letter or an at sign.
            let is_word = |w: &&str| w.len() > 1 && w.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@');
            words.extend(parts.filter(is_word).map(str::to_string));
        }
        dictionary(&format!("{extension}.dict"), words.into_iter().take(2000))?;
    }
    Ok(())
}

/// Writes words for the fuzzer to put in.
fn dictionary(path: &str, words: impl Iterator<Item = String>) -> io::Result<()> {
    fs::write(path, words.map(|word| format!("\"{word}\"\n")).collect::<String>())
}
