//! The commands of `debug`: their names, and what they do in a line.

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Step,
    StepBack,
    Next,
    NextBack,
    StepInstruction,
    StepInstructionBack,
    NextInstruction,
    NextInstructionBack,
    Finish,
    FinishBack,
    Continue,
    ContinueBack,
    Advance,
    AdvanceBack,
    Goto,
    Start,
    End,
    Break,
    Tbreak,
    Watch,
    Delete,
    Enable,
    Disable,
    Condition,
    Ignore,
    Last,
    Return,
    Print,
    Display,
    Undisplay,
    Set,
    Info,
    List,
    Disassemble,
    Examine,
    Where,
    Backtrace,
    Up,
    Down,
    Frame,
    Bookmark,
    Help,
    Quit,
}

/// A command's names, of which the first is the one that is shown, its arguments, and what it does.
pub(super) struct Entry {
    pub(super) word: Word,
    pub(super) names: &'static [&'static str],
    pub(super) arguments: &'static str,
    pub(super) help: &'static str,
}

const fn entry(word: Word, names: &'static [&'static str], arguments: &'static str, help: &'static str) -> Entry {
    Entry { word, names, arguments, help }
}

/// All commands, in the order of the help.
pub(super) const ALL: &[Entry] = &[
    entry(Word::Step, &["step", "s"], "[N]", "run to the next statement, into calls"),
    entry(Word::Next, &["next", "n"], "[N]", "run to the next statement, over calls"),
    entry(Word::Finish, &["finish", "out"], "", "run until this procedure has returned"),
    entry(Word::Continue, &["continue", "c"], "", "run to the next breakpoint, or to the end"),
    entry(Word::Advance, &["advance", "until"], "LOCATION", "run to a location"),
    entry(Word::StepInstruction, &["stepi", "si"], "[N]", "run one instruction"),
    entry(Word::NextInstruction, &["nexti", "ni"], "[N]", "run one instruction, over calls"),
    entry(Word::StepBack, &["rstep", "rs", "reverse-step"], "[N]", "go back to the last statement, into calls"),
    entry(Word::NextBack, &["rnext", "rn", "reverse-next"], "[N]", "go back to the last statement, over calls"),
    entry(Word::FinishBack, &["rfinish", "rout", "reverse-finish"], "", "go back to the call of this procedure"),
    entry(
        Word::ContinueBack,
        &["rcontinue", "rc", "reverse-continue"],
        "",
        "go back to the last breakpoint, or to the start",
    ),
    entry(Word::AdvanceBack, &["radvance", "reverse-advance"], "LOCATION", "go back to a location"),
    entry(Word::StepInstructionBack, &["rstepi", "rsi", "reverse-stepi"], "[N]", "go back by one instruction"),
    entry(
        Word::NextInstructionBack,
        &["rnexti", "rni", "reverse-nexti"],
        "[N]",
        "go back by one instruction, over calls",
    ),
    entry(
        Word::Goto,
        &["goto", "g"],
        "MOMENT",
        "go to a moment: `12345` instructions from the start, `+10`, `-10`, or a bookmark",
    ),
    entry(Word::Start, &["start"], "", "go to the start of the run"),
    entry(Word::End, &["end"], "", "go to the end of the run, past all breakpoints"),
    entry(
        Word::Break,
        &["break", "b"],
        "LOCATION [if EXPRESSION]",
        "stop at a line `12`, `file:12`, a procedure, a label or an address `*40`",
    ),
    entry(Word::Tbreak, &["tbreak", "tb"], "LOCATION [if EXPRESSION]", "the same, once"),
    entry(Word::Watch, &["watch", "w"], "NAME [if EXPRESSION]", "stop where a variable, a register or a word changes"),
    entry(Word::Delete, &["delete", "d"], "[N]", "delete a breakpoint, or all"),
    entry(Word::Enable, &["enable"], "N", "let a breakpoint stop again"),
    entry(Word::Disable, &["disable"], "N", "let a breakpoint not stop"),
    entry(Word::Condition, &["condition"], "N [EXPRESSION]", "let a breakpoint stop only if this is true"),
    entry(Word::Ignore, &["ignore"], "N COUNT", "pass over a breakpoint so many times"),
    entry(Word::Last, &["last", "l-w"], "NAME", "go back to before this was changed last"),
    entry(Word::Return, &["return"], "", "return to where `last` was called"),
    entry(
        Word::Print,
        &["print", "p", "p/x"],
        "EXPRESSION",
        "show a value: `x`, `a[3]*2`, `[a+4].q`; with `p/x` in hexadecimal",
    ),
    entry(Word::Display, &["display"], "[EXPRESSION]", "show a value whenever the run stops"),
    entry(Word::Undisplay, &["undisplay"], "[N]", "show one of them no longer, or none"),
    entry(Word::Set, &["set"], "NAME=VALUE", "change a variable, a register or a word"),
    entry(
        Word::Info,
        &["info", "i"],
        "variables|registers|breakpoints|output|counts|energy [TECHNOLOGY]|bookmarks|checkpoints",
        "show what there is; counts and energy are those of the run up to here",
    ),
    entry(Word::List, &["list", "l"], "[LOCATION]", "show the source around here"),
    entry(Word::Disassemble, &["disassemble", "disas"], "[LOCATION]", "show the instructions around here"),
    entry(Word::Examine, &["x"], "ADDRESS [COUNT]", "show words of the memory"),
    entry(Word::Where, &["where"], "", "show where the run is"),
    entry(Word::Backtrace, &["backtrace", "bt"], "", "show the calls that have not returned"),
    entry(Word::Up, &["up"], "[N]", "look at the procedure that called this one, as it was at its call"),
    entry(Word::Down, &["down"], "[N]", "look at the procedure that it called"),
    entry(Word::Frame, &["frame"], "[N]", "look at a procedure by its number in `backtrace`"),
    entry(Word::Bookmark, &["bookmark", "mark"], "NAME", "name this moment, for `goto NAME`"),
    entry(Word::Help, &["help", "h", "?"], "[COMMAND]", "show the commands, or one of them"),
    entry(Word::Quit, &["quit", "q", "exit"], "", "leave"),
];

/// The command of this name; the beginning of a name suffices if only one command begins with it.
///
/// # Errors
/// There is none, or there are several.
pub(super) fn find(name: &str) -> Result<&'static Entry, String> {
    if let Some(entry) = ALL.iter().find(|entry| entry.names.contains(&name)) {
        return Ok(entry);
    }
    let begins = |entry: &&Entry| entry.names.iter().any(|own| own.starts_with(name));
    let found: Vec<&Entry> = ALL.iter().filter(begins).collect();
    match found[..] {
        [one] => Ok(one),
        [] => Err(format!("there is no command `{name}`; `help` lists them")),
        _ => {
            let names: Vec<&str> = found.iter().map(|entry| entry.names[0]).collect();
            Err(format!("`{name}` may be {}", names.join(", ")))
        }
    }
}

/// The help for one command.
pub(super) fn help(entry: &Entry) -> String {
    let others = match entry.names {
        [_, others @ ..] if !others.is_empty() => format!(" (also {})", others.join(", ")),
        _ => String::new(),
    };
    format!("{} {}\n    {}{others}\n", entry.names[0], entry.arguments, entry.help).replace(" \n", "\n")
}
