//! Runs VLAD programs: `cargo run --example vlad FILE…`

use pendula_functional::eval::{Limits, Machine};
use pendula_functional::vlad;
use pendula_isa::budget::Budget;
use pendula_isa::diagnostic::Sources;

fn main() {
    for path in std::env::args().skip(1) {
        let mut sources = Sources::default();
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let file = sources.add(path.clone(), text).expect("one file");
        let mut include = |from: &str, name: &str| {
            let mut path = std::path::Path::new(from).parent().unwrap_or(std::path::Path::new("")).join(name);
            if path.extension().is_none() {
                path.set_extension("vlad");
            }
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            Ok((path.display().to_string(), text))
        };
        let reading = match vlad::read_all(&mut sources, file, &Budget::default(), &mut include) {
            Ok(reading) => reading,
            Err(d) => {
                println!("{path}: {d:?}");
                continue;
            }
        };
        for d in &reading.mistakes {
            println!("mistake: {} {} {:?}", d.code, d.message, d.primary.as_ref().map(|l| &l.place));
        }
        let start = std::time::Instant::now();
        let mut machine = Machine::new(reading.program.store.clone(), Limits::default());
        match machine.run(&reading.program) {
            Err(f) => println!("failed: {f:?}"),
            Ok(outcome) => {
                for shown in outcome.values {
                    print!("{}", shown.output);
                    match shown.value {
                        Ok(v) => println!("{}", v.show()),
                        Err(f) => println!("error {} {} {:?} {:?}", f.code, f.message, f.values, f.place),
                    }
                }
                if std::env::var_os("CORE").is_some() {
                    for n in 0..machine.store().len() {
                        let id = pendula_functional::core::GroupId(n as u32);
                        if !machine.store().get(id).members.is_empty() {
                            println!("{}", pendula_functional::print::one(machine.store(), id));
                        }
                    }
                }
                println!("; {} steps, {} nodes, {:?}", outcome.counts.steps, outcome.counts.nodes, start.elapsed());
            }
        }
    }
}
