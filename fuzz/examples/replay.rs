//! Runs every target on its seeds in `seeds/`, or on those of a folder that is given, without a fuzzer: `cargo run --release --example replay`.

use std::fs;
use std::io;
use std::path::PathBuf;

use pendula_fuzz::targets::ALL;

fn main() -> io::Result<()> {
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from("seeds"), PathBuf::from);
    for (name, target) in ALL {
        let entries = fs::read_dir(folder.join(name))?;
        let mut files = entries.map(|e| Ok(e?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
        files.sort();
        for path in &files {
            let bytes = fs::read(path)?;
            if std::panic::catch_unwind(|| target(&bytes)).is_err() {
                eprintln!("{} fails", path.display());
                std::process::exit(1);
            }
        }
        println!("{name}: {} inputs", files.len());
    }
    Ok(())
}
