//! Programs in the documents assemble and run.

use super::*;

/// A fenced block: its first line's number, and its text.
struct Block {
    line: usize,
    text: String,
}

fn blocks(text: &str, language: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut open: Option<(bool, Block)> = None;
    for (n, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim() == language, Block { line: n + 2, text: String::new() })),
            (Some(_), Some("")) => {
                out.extend(open.take().filter(|(wanted, _)| *wanted).map(|(_, block)| block));
            }
            (Some((_, block)), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block without an end");
    out
}

/// The comments `; docs:` of a block.
fn marks(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map_while(|l| l.strip_prefix("; docs: "));
    lines.map(|l| l.split_once(' ').unwrap_or((l, ""))).map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

#[test]
fn programs_in_the_documents_work() {
    let mut failed = String::new();
    let mut count = 0;
    for path in documents() {
        let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
        for block in blocks(&read(&path), "rasm") {
            count += 1;
            if let Err(why) = program(&block.text, &mut files) {
                let _ = writeln!(failed, "{path}:{}: {why}\n{}", block.line, block.text);
            }
        }
    }
    assert!(failed.is_empty(), "\n{failed}");
    assert!(count > 20, "only {count} programs");
}

fn program(text: &str, files: &mut BTreeMap<PathBuf, String>) -> Result<(), String> {
    let marks = marks(text);
    let mark = |name: &str| marks.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    let known = ["fragment", "traps", "error", "drift", "input", "file"];
    if let Some((name, _)) = marks.iter().find(|(n, _)| !known.contains(&n.as_str())) {
        return Err(format!("`; docs: {name}` means nothing"));
    }
    if let Some(name) = mark("file") {
        files.insert(PathBuf::from(name), text.to_string());
        return Ok(());
    }
    let files = files.clone();
    let loader = move |path: &Path| files.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
    let options = Options { loader: Some(Box::new(loader)), ..Options::default() };
    let whole = match mark("fragment") {
        Some(_) => format!("        .text\nfragment.start: start\n{text}        finish\n"),
        None => text.to_string(),
    };
    let assembly = assemble("block.rasm", whole, &options);
    let mut found: Vec<&str> =
        assembly.diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect();
    let wanted: Vec<&str> = mark("error").map_or(Vec::new(), |codes| codes.split(' ').collect());
    found.dedup();
    if found != wanted {
        return Err(format!("errors {found:?}, expected {wanted:?}: {:#?}", assembly.diagnostics));
    }
    let Some(module) = assembly.module else { return Ok(()) };
    if mark("fragment").is_some() {
        return Ok(());
    }
    let irreversible = module.flags.irreversible;
    let program = match Program::new(module, true) {
        Err(error) if error.code() == "P0141" && mark("traps").is_none() => return Ok(()),
        program => program.map_err(|e| e.to_string())?,
    };
    let mut machine = Machine::new(&program, &Config::default()).map_err(|e| e.to_string())?;
    if let Some(input) = mark("input") {
        machine.set_input(values::tape(program.module(), input).map_err(|e| e.to_string())?, 0);
    }
    let start = machine.digest();
    let mut go = |direction| {
        machine.begin(direction);
        let outcome = machine.run(Some(10_000_000));
        (outcome, machine.digest())
    };
    match (go(Direction::Forward).0, mark("traps")) {
        (Outcome::Finished, None) => {}
        (Outcome::Trap(trap), Some(code)) if trap.fault.code() == code => return Ok(()),
        (outcome, _) => return Err(format!("{outcome:?}")),
    }
    for line in text.lines().filter_map(|l| l.split_once("; after the run: ")).map(|(_, l)| l) {
        for (name, value) in line.split(" and ").filter_map(|part| part.split_once(" = ")) {
            let place = values::find(program.module(), name.trim()).map_err(|e| e.to_string())?;
            let is = values::text(&machine, &place, false, usize::MAX);
            if is != value.trim() {
                return Err(format!("{name} is {is}"));
            }
        }
    }
    if irreversible {
        return Ok(());
    }
    machine.begin(Direction::Backward);
    match machine.run(Some(10_000_000)) {
        Outcome::Finished if machine.digest() == start || mark("drift").is_some() => Ok(()),
        Outcome::Finished => Err("the run back does not restore the state".to_string()),
        outcome => Err(format!("running back: {outcome:?}")),
    }
}
