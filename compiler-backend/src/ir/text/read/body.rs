//! Reads the statements of a function.

use nom::branch::alt;
use nom::combinator::{cut, map, not, opt, peek, value};
use nom::multi::{many_till, separated_list1};
use nom::sequence::{delimited, preceded, terminated};
use nom::{Err, Parser};
use pendula_isa::{Acc, Cond, Ty};

use super::super::lex::{
    Failure, Parsed, flag, here, integer, keyword, number, one_of_symbols, quoted, symbol, symbol_flag, word,
};
use super::super::print::{REASONS, param_type, row_type};
use super::{Context, Table, constant, letter, loc, name_reference, reference, resolve, table, ty};
use crate::ir::{
    AncillaChecks, Block, Blocks, Condition, FunctionId, IrFunction, LocatedStmt, Mem, Operand, Place, Region, Step,
    Stmt, Test, Var,
};

/// The operators of updates: the accumulator, and whether it is its partner.
const ACCUMULATORS: &[(&str, (Acc, bool))] = &[
    ("+=", (Acc::Add, false)),
    ("-=", (Acc::Add, true)),
    ("^=", (Acc::Xor, false)),
    ("^~=", (Acc::Xor, true)),
    ("*=", (Acc::Mul, false)),
    ("/=", (Acc::Mul, true)),
];

/// What is expected where an operand must be.
const OPERAND: &str = "a number, a variable or a word of memory";

/// Reads the statements of one function.
pub(super) struct Body<'c> {
    context: &'c Context,
    vars: Table,
    regions: Table,
}

impl<'c> Body<'c> {
    pub(super) fn new(context: &'c Context, function: &IrFunction) -> Body<'c> {
        Body {
            context,
            vars: table(function.vars.iter().map(|v| v.name.as_str())),
            regions: table(function.regions.iter().map(|r| r.name.as_str())),
        }
    }

    /// Statements and the brace that ends them.
    pub(super) fn statements<'t>(&self, input: &'t str) -> Parsed<'t, Block> {
        map(many_till(|input| self.counted_statement(input), symbol("}")), |(block, ())| block).parse(input)
    }

    fn block<'t>(&self, input: &'t str) -> Parsed<'t, Block> {
        let (input, ()) = symbol("{").parse(input)?;
        let Context { budget, nesting, .. } = self.context;
        let within = budget.nested(nesting.get() + 1, || "this block".to_string());
        within.map_err(|e| Failure::exceeded(here(input), e.instead("take a part of it into a function")))?;
        nesting.set(nesting.get() + 1);
        let block = self.statements(input);
        nesting.set(nesting.get() - 1);
        block
    }

    fn counted_statement<'t>(&self, input: &'t str) -> Parsed<'t, LocatedStmt> {
        let Context { budget, statements, .. } = self.context;
        statements.set(statements.get() + 1);
        let within = budget.program(statements.get(), || "the program".to_string());
        within.map_err(|e| Failure::exceeded(here(input), e.instead("use loops and functions")))?;
        self.statement(input)
    }

    fn statement<'t>(&self, input: &'t str) -> Parsed<'t, LocatedStmt> {
        let start = here(input);
        // A statement whose first token is a name in quotes is an update.
        let quote = start.starts_with('"');
        let (rest, first) = if quote { (start, "") } else { word("a statement or `}`").parse(start)? };
        if matches!(first, "if" | "while" | "for" | "with" | "span" | "unspan") {
            let (rest, loc) = loc(rest)?;
            let (rest, stmt) = self.structured(first, rest)?;
            return Ok((rest, LocatedStmt { stmt, loc }));
        }
        let (rest, stmt) = self.simple(first, start, rest)?;
        let (rest, loc) = loc(rest)?;
        Ok((rest, LocatedStmt { stmt, loc }))
    }

    /// A statement with blocks, after its first word and its place in the source.
    fn structured<'t>(&self, first: &str, rest: &'t str) -> Parsed<'t, Stmt> {
        let block = || |input| self.block(input);
        let condition = || |input| self.condition(input);
        match first {
            "if" => {
                let otherwise = map(opt(preceded(keyword("else"), cut(block()))), Option::unwrap_or_default);
                let parts = (condition(), block(), otherwise, preceded(keyword("post"), condition()));
                map(parts, |(pre, then, otherwise, post)| Stmt::If { pre, post, then, otherwise }).parse(rest)
            }
            "while" => {
                let first = map(opt(preceded(keyword("first"), cut(block()))), Option::unwrap_or_default);
                let parts = (condition(), first, block(), preceded(keyword("post"), condition()));
                map(parts, |(pre, first, body, post)| Stmt::While { pre, post, first, body }).parse(rest)
            }
            "for" => self.for_loop(rest),
            "with" => {
                let parts = (quoted, block(), preceded(keyword("do"), block()));
                map(parts, |(name, compute, body)| Stmt::With { name, compute, body }).parse(rest)
            }
            _ => map((quoted, block()), |(name, body)| Stmt::Span { undo: first == "unspan", name, body }).parse(rest),
        }
    }

    fn for_loop<'t>(&self, rest: &'t str) -> Parsed<'t, Stmt> {
        let bound = || |input| self.operand(Ty::Int, input);
        let variable_step =
            map((symbol_flag("-"), |input| self.var(input)), |(negated, var)| Step::Var { var, negated });
        let constant_step = map(preceded(peek(number("a number")), cut(integer)), Step::Const);
        let parts = (
            |input| self.var(input),
            preceded(symbol("="), bound()),
            preceded(keyword("to"), bound()),
            preceded(keyword("step"), alt((constant_step, variable_step))),
            opt(alt((
                map(keyword("blocks_from_last"), |_| Blocks::FromLast),
                map(keyword("blocks"), |_| Blocks::FromFirst),
            ))),
            |input| self.block(input),
        );
        map(parts, |(var, first, last, step, blocks, body)| Stmt::For { var, first, last, step, body, blocks })
            .parse(rest)
    }

    /// A statement without blocks, up to its place in the source. `start` is the text from its first word on, `rest` the text
    /// after the first word.
    fn simple<'t>(&self, first: &str, start: &'t str, rest: &'t str) -> Parsed<'t, Stmt> {
        match first {
            "apply" => self.permute(rest),
            "begin" | "end" => {
                let parts = (|input| self.var(input), checks);
                map(parts, |(var, checks)| Stmt::Ancilla { var, free: first == "end", checks }).parse(rest)
            }
            "array" | "unarray" => self.array(first == "unarray", rest),
            "call" | "uncall" => self.call(first == "uncall", rest),
            "assert" => self.assert(rest),
            "print" => map(integer, Stmt::Print).parse(rest),
            _ => match first.strip_prefix("show.").map(letter) {
                Some(Some(ty)) => map(|input| self.operand(ty, input), |value| Stmt::Show { ty, value }).parse(rest),
                Some(None) | None => self.update(start),
            },
        }
    }

    fn update<'t>(&self, input: &'t str) -> Parsed<'t, Stmt> {
        let operator = one_of_symbols(ACCUMULATORS, "`+=` or the like");
        let (input, (dst, (acc, inverse))) = (|input| self.place(input), operator).parse(input)?;
        let (rest, name) = word("a function of the instruction table").parse(input)?;
        let func = self.context.table_functions.get(name).copied();
        let func = func.ok_or_else(|| Failure::message(here(input), "no such function"))?;
        let (rest, args) = self.operands(|n| func.info().args.get(n).map_or(Ty::Int, |a| a.ty), rest)?;
        Ok((rest, Stmt::Update { acc, inverse, func, dst, args }))
    }

    fn permute<'t>(&self, rest: &'t str) -> Parsed<'t, Stmt> {
        let (input, inverse) = symbol_flag("~").parse(rest)?;
        let (rest, text) = word("a row of the instruction table").parse(input)?;
        let typed = |(name, ty): (&str, &str)| Some((*self.context.rows.get(name)?, letter(ty)?));
        let found = text.rsplit_once('.').and_then(typed);
        let (row, ty) = found.ok_or_else(|| Failure::message(here(input), "no such row"))?;
        let (rest, args) = self.operands(|_| row_type(row, ty), rest)?;
        Ok((rest, Stmt::Permute { row, inverse, ty, args }))
    }

    fn array<'t>(&self, free: bool, rest: &'t str) -> Parsed<'t, Stmt> {
        let len = delimited(symbol("["), |input| self.operand(Ty::Int, input), symbol("]"));
        let region = preceded(keyword("in"), |input| self.region(input));
        let parts = (|input| self.var(input), preceded(symbol(":"), ty), len, region, checks);
        map(parts, |(base, ty, len, region, checks)| Stmt::Array { base, len, region, ty, free, checks }).parse(rest)
    }

    fn call<'t>(&self, inverse: bool, rest: &'t str) -> Parsed<'t, Stmt> {
        let (rest, func) = reference("function", &self.context.functions).parse(rest)?;
        let callee = self.context.heads.get(func as usize);
        let types: Vec<Ty> = (0..callee.map_or(0, |f| f.params.len())).map(|n| param_type(callee, n)).collect();
        let (rest, args) = self.operands(|n| types.get(n).copied().unwrap_or(Ty::Int), rest)?;
        Ok((rest, Stmt::Call { func: FunctionId(func), inverse, args }))
    }

    fn assert<'t>(&self, rest: &'t str) -> Parsed<'t, Stmt> {
        const EXPECTED: &str = "a reason (`user`, `bounds`, `alias` or `shape`)";
        let at = here(rest);
        let (rest, kind) = word(EXPECTED).parse(at)?;
        let why = REASONS.iter().find(|(_, name)| *name == kind).map(|(why, _)| *why);
        let why = why.ok_or_else(|| Failure::expected(at, EXPECTED))?;
        let text = opt(preceded(symbol(":"), cut(quoted)));
        let (rest, (test, text)) = (|input| self.test(input), text).parse(rest)?;
        let reason = text.map(|text| self.context.reasons.borrow_mut().add(text));
        Ok((rest, Stmt::Assert { test, why, reason }))
    }

    fn condition<'t>(&self, input: &'t str) -> Parsed<'t, Condition> {
        let compute = opt(preceded(keyword("given"), cut(|input| self.block(input))));
        let parts = (map(compute, Option::unwrap_or_default), |input| self.test(input));
        map(parts, |(compute, test)| Condition { compute, test }).parse(input)
    }

    fn test<'t>(&self, input: &'t str) -> Parsed<'t, Test> {
        const EXPECTED: &str = "a comparison such as `lt.i`";
        // The type follows the left side, so the left side is read again once the type is known.
        let mut left = alt((value((), number(OPERAND)), value((), |input| self.place(input))));
        let (after_left, ()) = left.parse(input)?;
        let (rest, text) = word(EXPECTED).parse(after_left)?;
        let typed = |(name, ty): (&str, &str)| Some((Cond::TESTS.into_iter().find(|c| c.name() == name)?, letter(ty)?));
        let found = text.rsplit_once('.').and_then(typed);
        let (cond, ty) = found.ok_or_else(|| Failure::expected(here(after_left), EXPECTED))?;
        let (_, a) = self.operand(ty, input)?;
        let (rest, b) = self.operand(ty, rest)?;
        Ok((rest, Test { cond, ty, a, b }))
    }

    /// Operands in parentheses, each with the type of its place.
    fn operands<'t>(&self, ty: impl Fn(usize) -> Ty, input: &'t str) -> Parsed<'t, Vec<Operand>> {
        let (input, ()) = symbol("(").parse(input)?;
        if let (rest, Some(())) = opt(symbol(")")).parse(input)? {
            return Ok((rest, Vec::new()));
        }
        let mut count = 0;
        let operand = |input| {
            count += 1;
            self.operand(ty(count - 1), input)
        };
        let (input, args) = separated_list1(symbol(","), cut(operand)).parse(input)?;
        let (rest, ()) = symbol(")").parse(input).map_err(|_| Failure::expected(here(input), "`,` or `)`"))?;
        Ok((rest, args))
    }

    fn operand<'t>(&self, ty: Ty, input: &'t str) -> Parsed<'t, Operand> {
        let (rest, digits) = opt(number(OPERAND)).parse(input)?;
        let Some(digits) = digits else { return map(|input| self.place(input), Operand::from).parse(input) };
        let word = constant(digits, ty, self.context.format);
        let word = word.ok_or_else(|| Failure::message(here(input), format!("no {} number", ty.name())))?;
        Ok((rest, Operand::Const(word)))
    }

    fn place<'t>(&self, input: &'t str) -> Parsed<'t, Place> {
        let (rest, name) = name_reference(input).map_err(|error| match error {
            Err::Error(_) => Failure::expected(here(input), OPERAND),
            Err::Failure(_) | Err::Incomplete(_) => error,
        })?;
        if here(rest).starts_with('[') {
            let region = Region(resolve("region", &self.regions, here(input), &name)?);
            let address = delimited(symbol("["), |input| self.address(input), symbol("]"));
            let mut mem = map(address, |(base, index, offset)| Place::Mem(Mem { base, index, offset, region }));
            return mem.parse(rest);
        }
        Ok((rest, Place::Var(Var(resolve("variable", &self.vars, here(input), &name)?))))
    }

    /// The address of a word of memory: a base, an index and an offset, or an offset alone.
    fn address<'t>(&self, input: &'t str) -> Parsed<'t, (Option<Var>, Option<Var>, i64)> {
        let var = || |input| self.var(input);
        let is_number = || number("a number");
        let base = alt((value(None, keyword("_")), map(var(), Some)));
        let index = opt(preceded(terminated(symbol("+"), not(is_number())), cut(var())));
        let added = preceded(symbol("+"), cut(integer));
        let offset = map(opt(alt((added, preceded(peek(is_number()), cut(integer))))), Option::unwrap_or_default);
        let alone = map(preceded(peek(is_number()), cut(integer)), |offset| (None, None, offset));
        alt((alone, (base, index, offset))).parse(input)
    }

    fn var<'t>(&self, input: &'t str) -> Parsed<'t, Var> {
        map(reference("variable", &self.vars), Var).parse(input)
    }

    fn region<'t>(&self, input: &'t str) -> Parsed<'t, Region> {
        map(reference("region", &self.regions), Region).parse(input)
    }
}

/// The checks where a life begins or ends.
fn checks(input: &str) -> Parsed<'_, AncillaChecks> {
    map((flag("check"), flag("drop")), |(check, drop)| AncillaChecks { check, drop }).parse(input)
}
