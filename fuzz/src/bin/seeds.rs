//! Writes seeds for the corpora, and a dictionary of the assembler's words: `cargo run --bin seeds` in `fuzz/`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pendula_asm::object;
use pendula_isa::encode::{Pool, encode};
use pendula_isa::mnemonic::{ALIASES, families};
use pendula_isa::sample::{Draft, Source, instruction};

fn write(target: &str, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let folder = Path::new("corpus").join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

/// The source files under a folder.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, out)?;
        } else if path.extension().is_some_and(|e| e == "rasm") {
            out.push(path);
        }
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for folder in ["../examples", "../tests/filetests"] {
        sources(Path::new(folder), &mut files)?;
    }
    files.sort();
    for (n, path) in files.iter().enumerate() {
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
        let text = Draft::new(&mut s, seed as usize).text();
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
    let dictionary: String = names.chain(directives.map(String::from)).map(|word| format!("\"{word}\"\n")).collect();
    fs::write("assemble.dict", dictionary)
}
