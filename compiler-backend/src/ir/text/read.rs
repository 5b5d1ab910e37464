//! Reads programs: declarations first, then the functions' bodies, which may call functions that are declared later.

mod body;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use nom::branch::alt;
use nom::combinator::{cut, eof, map, opt, value};
use nom::multi::{many_till, many0};
use nom::sequence::{preceded, terminated};
use nom::{Err, Parser};
use pendula_isa::budget::{Budget, Exceeded};
use pendula_isa::num::decimal::{parse_f, parse_l, parse_q};
use pendula_isa::table::{Row, TableFn};
use pendula_isa::{Format, Ty};

use super::lex::{Failure, Parsed, flag, here, integer, keyword, name, quoted, symbol, symbol_flag, word};
use super::{TextError, print};
use crate::ir::{FunctionId, IrFunction, Loc, Param, Program, RegionInfo, Var, VarInfo};
use body::Body;

/// The index of the declaration for each name; `None` if several declarations have the name.
type Table = HashMap<String, Option<u32>>;

fn table<'a>(names: impl Iterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    for (n, name) in (0u32..).zip(names) {
        table.entry(name.to_owned()).and_modify(|e| *e = None).or_insert(Some(n));
    }
    table
}

/// A declaration at the top level of a text.
enum Declaration<'t> {
    Stack(u64),
    File(String),
    Text(String),
    Reason(String),
    /// The entry's name.
    Entry(&'t str),
    Function(Head<'t>),
}

/// A function without its statements.
struct Head<'t> {
    function: IrFunction,
    /// The text from its statements on.
    body: &'t str,
}

/// The messages of assertions, each text once.
#[derive(Default)]
struct Reasons {
    texts: Vec<String>,
    indices: HashMap<String, u32>,
}

impl Reasons {
    fn add(&mut self, text: String) -> u32 {
        let next = self.texts.len() as u32;
        *self.indices.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            next
        })
    }
}

/// The context of the whole program, in which bodies are read.
struct Context {
    budget: Budget,
    format: Format,
    heads: Vec<IrFunction>,
    functions: Table,
    /// Functions of the instruction table by name.
    table_functions: HashMap<String, TableFn>,
    /// Rows of the instruction table by name.
    rows: HashMap<String, Row>,
    reasons: RefCell<Reasons>,
    nesting: Cell<u32>,
    statements: Cell<u64>,
}

/// The word of a number of a type.
pub(super) fn constant(text: &str, ty: Ty, format: Format) -> Option<u64> {
    match ty {
        Ty::Int => text.parse::<i64>().ok().map(i64::cast_unsigned).or_else(|| {
            let digits = text.strip_prefix("0x")?.strip_suffix('w')?;
            u64::from_str_radix(digits, 16).ok()
        }),
        Ty::Q => parse_q(text, format).ok(),
        Ty::L => parse_l(text).ok(),
        Ty::F => parse_f(text).ok(),
    }
}

pub(super) fn program(text: &str, budget: &Budget) -> Result<Program, TextError> {
    let spent = |exceeded: Exceeded| {
        let message = exceeded.to_string();
        TextError { line: 1, column: 1, message, exceeded: Some(Box::new(exceeded)) }
    };
    budget.large(text.len() as u64, || "the text".to_string()).map_err(spent)?;
    read(text, budget).map_err(|error| match error {
        Err::Error(failure) | Err::Failure(failure) => failure.in_text(text),
        // Only parsers of streams ask for more input.
        Err::Incomplete(_) => TextError { line: 1, column: 1, message: "the text does not end".into(), exceeded: None },
    })
}

fn read<'t>(text: &'t str, budget: &Budget) -> Result<Program, Err<Failure<'t>>> {
    let (input, format) = preceded(keyword("program"), format).parse(text)?;
    let (_, (declarations, _)) = many_till(declaration, end).parse(input)?;
    let mut program = Program { format, ..Program::default() };
    let (mut reasons, mut entry, mut bodies) = (Reasons::default(), None, Vec::new());
    for declaration in declarations {
        match declaration {
            Declaration::Stack(words) => program.stack = words,
            Declaration::File(file) => program.files.push(file),
            Declaration::Text(text) => program.texts.push(text),
            Declaration::Reason(text) => {
                reasons.add(text);
            }
            Declaration::Entry(at) => entry = Some(at),
            Declaration::Function(Head { function, body }) => {
                program.functions.push(function);
                bodies.push(body);
            }
        }
    }
    let context = Context {
        budget: *budget,
        format,
        functions: table(program.functions.iter().map(|f| f.name.as_str())),
        heads: program.functions,
        table_functions: TableFn::ALL.iter().map(|f| (print::func(*f), *f)).collect(),
        rows: Row::ALL.iter().map(|row| (print::row(*row), *row)).collect(),
        reasons: RefCell::new(reasons),
        nesting: Cell::new(0),
        statements: Cell::new(0),
    };
    if let Some(at) = entry {
        program.entry = Some(FunctionId(reference("function", &context.functions).parse(at)?.1));
    }
    let mut blocks = Vec::with_capacity(bodies.len());
    for (function, at) in context.heads.iter().zip(bodies) {
        blocks.push(Body::new(&context, function).statements(at)?.1);
    }
    program.functions = context.heads;
    for (function, block) in program.functions.iter_mut().zip(blocks) {
        function.body = block;
    }
    program.reasons = context.reasons.into_inner().texts;
    Ok(program)
}

/// The end of the text.
fn end(input: &str) -> Parsed<'_, ()> {
    value((), eof).parse(here(input))
}

fn format(input: &str) -> Parsed<'_, Format> {
    let (rest, text) = word("a format").parse(input)?;
    let format = Format::from_name(text).ok_or_else(|| Failure::message(here(input), "no such format"))?;
    Ok((rest, format))
}

fn declaration(input: &str) -> Parsed<'_, Declaration<'_>> {
    let entry = |input| {
        let (rest, _) = name_reference(input)?;
        Ok((rest, Declaration::Entry(input)))
    };
    let declaration = alt((
        preceded(keyword("stack"), cut(map(integer, Declaration::Stack))),
        preceded(keyword("file"), cut(map(quoted, Declaration::File))),
        preceded(keyword("text"), cut(map(quoted, Declaration::Text))),
        preceded(keyword("reason"), cut(map(quoted, Declaration::Reason))),
        preceded(keyword("entry"), cut(entry)),
        preceded(keyword("fun"), cut(map(head, Declaration::Function))),
    ))
    .parse(input);
    declaration.map_err(|error| match error {
        Err::Error(_) => Failure::expected(here(input), "a declaration"),
        Err::Failure(_) | Err::Incomplete(_) => error,
    })
}

/// A name, and the number after `%` that tells declarations of the same name apart.
type NameReference = (String, Option<u32>);

fn name_reference(input: &str) -> Parsed<'_, NameReference> {
    (name, opt(preceded(symbol("%"), cut(integer)))).parse(input)
}

/// The number of the declaration that a name at this place refers to.
fn resolve<'t>(
    what: &str,
    table: &Table,
    at: &'t str,
    (name, number): &NameReference,
) -> Result<u32, Err<Failure<'t>>> {
    if let Some(n) = number {
        return Ok(*n);
    }
    let message = match table.get(name) {
        Some(Some(n)) => return Ok(*n),
        Some(None) => format!("more than one {what} has this name: `%` and its number must follow"),
        None => format!("no {what} has this name"),
    };
    Err(Failure::message(at, message))
}

/// A name of something that is declared, as the number of its declaration.
fn reference<'t>(what: &str, table: &Table) -> impl Parser<&'t str, Output = u32, Error = Failure<'t>> {
    move |input| {
        let (rest, name) = name_reference(input)?;
        Ok((rest, resolve(what, table, here(input), &name)?))
    }
}

fn ty(input: &str) -> Parsed<'_, Ty> {
    const EXPECTED: &str = "a type (`i`, `q`, `l` or `f`)";
    let (rest, text) = word(EXPECTED).parse(input)?;
    Ok((rest, letter(text).ok_or_else(|| Failure::expected(here(input), EXPECTED))?))
}

/// The type with this letter.
fn letter(word: &str) -> Option<Ty> {
    let mut chars = word.chars();
    let ty = Ty::from_letter(chars.next()?);
    if chars.next().is_some() { None } else { ty }
}

fn loc(input: &str) -> Parsed<'_, Loc> {
    let place = (integer, preceded(symbol(":"), integer), preceded(symbol(":"), integer));
    let place = map(place, |(file, line, column)| Loc { file, line, column });
    map(opt(preceded(symbol("@"), cut(place))), Option::unwrap_or_default).parse(input)
}

/// A declaration at the beginning of a function.
enum Declared<'t> {
    Region(RegionInfo),
    /// A variable; for a parameter, whether it is written; and the text with the region that it points into.
    Var(VarInfo, Option<bool>, Option<&'t str>),
}

fn declared(input: &str) -> Parsed<'_, Declared<'_>> {
    let typed = || (name, preceded(symbol(":"), ty));
    let region = map(typed(), |(name, ty)| Declared::Region(RegionInfo { name, ty }));
    let var = |param: Option<bool>| {
        let points = |input| {
            let (rest, _) = name_reference(input)?;
            Ok((rest, input))
        };
        map((typed(), opt(preceded(symbol("->"), cut(points)))), move |((name, ty), points)| {
            Declared::Var(VarInfo { name, ty, points: None }, param, points)
        })
    };
    alt((
        preceded(keyword("in"), cut(var(Some(false)))),
        preceded(keyword("out"), cut(var(Some(true)))),
        preceded(keyword("var"), cut(var(None))),
        preceded(keyword("region"), cut(region)),
    ))
    .parse(input)
}

/// A function up to its statements, which are skipped.
fn head(input: &str) -> Parsed<'_, Head<'_>> {
    let (input, (name, inline, loc)) = terminated((name, flag("inline"), loc), symbol("{")).parse(input)?;
    let (input, declarations) = many0(declared).parse(input)?;
    let (mut params, mut vars, mut regions, mut pointers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for declared in declarations {
        match declared {
            Declared::Region(region) => regions.push(region),
            Declared::Var(info, param, points) => {
                let n = u32::try_from(vars.len()).map_err(|_| Failure::message(input, "too many variables"))?;
                let var = Var(n);
                params.extend(param.map(|written| Param { var, written }));
                pointers.extend(points.map(|at| (var, at)));
                vars.push(info);
            }
        }
    }
    // The regions follow the variables that point into them.
    let region_names = table(regions.iter().map(|r| r.name.as_str()));
    for (var, at) in pointers {
        let (_, region) = reference("region", &region_names).parse(at)?;
        vars[var.0 as usize].points = Some(crate::ir::Region(region));
    }
    let var_names = table(vars.iter().map(|v| v.name.as_str()));
    let param =
        map((reference("variable", &var_names), symbol_flag("!")), |(n, written)| Param { var: Var(n), written });
    let list = preceded(symbol("("), many_till(param, symbol(")")));
    let (body, listed) = opt(preceded(keyword("params"), cut(list))).parse(input)?;
    if let Some((list, ())) = listed {
        params = list;
    }
    let (rest, ()) = skip_body(body)?;
    let function =
        IrFunction { name, params, vars, regions, body: vec![], loc, inline, extension: None, names: vec![] };
    Ok((rest, Head { function, body }))
}

/// Skips a function's statements and the brace that ends them.
fn skip_body(mut input: &str) -> Parsed<'_, ()> {
    let mut open = 1usize;
    while open > 0 {
        let at = here(input);
        let mut chars = at.chars();
        match chars.next() {
            Some('"') => {
                input = quoted(at)?.0;
                continue;
            }
            Some('{') => open += 1,
            Some('}') => open -= 1,
            Some(_) => {}
            None => return Err(Failure::expected(at, "`}`")),
        }
        input = chars.as_str();
    }
    Ok((input, ()))
}
