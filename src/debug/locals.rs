//! The variables of functions in Nil and Janus, while they run.

use pendula_compiler::ir::eval::{HeldValue, Words, held};
use pendula_compiler::ir::source::{NamedOperand, Number, Place as Held, Shape};
use pendula_compiler::ir::{IrFunction, Mem, Var};
use pendula_compiler::lower::{Scope, WordPlace};
use pendula_isa::module::Variable;
use pendula_isa::table::Flow;
use pendula_isa::types::Ty;
use pendula_vm::Machine;

use super::view::View;
use super::{Session, is_backward};
use crate::report::stop_report::held_text;
use crate::state::compiled::CompiledSource;
use crate::state::language;
use crate::state::values::{Location, Place};

/// A variable of the function that is running.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its value as text; `None` if it is not known at this moment.
    pub text: Option<String>,
}

/// What is known of a program's variables in its code.
pub(super) struct Locals<'p> {
    source: &'p CompiledSource,
    /// Whether optimisations have left each function as the source has it: names are those of the source.
    kept: Vec<bool>,
}

/// The function that is running.
struct Running<'s> {
    machine: &'s Machine<'s>,
    function: &'s IrFunction,
    scope: Scope<'s>,
}

impl Words for Running<'_> {
    fn variable(&self, var: Var) -> Option<u64> {
        let registers = self.machine.registers();
        match self.scope.place(var)? {
            WordPlace::Register(r) => registers.get(r.index()).copied(),
            WordPlace::Memory(base, offset) => self.word(registers.get(base.index())?.wrapping_add_signed(offset)),
        }
    }

    fn word(&self, address: u64) -> Option<u64> {
        self.machine.memory().get(usize::try_from(address).ok()?).copied()
    }
}

impl Running<'_> {
    /// Where the word of a variable is.
    fn location(&self, var: Var) -> Option<Location> {
        match self.scope.place(var)? {
            WordPlace::Register(r) => Some(Location::Register(r)),
            WordPlace::Memory(base, offset) => {
                let base = self.machine.registers().get(base.index())?;
                Some(word(base.wrapping_add_signed(offset)))
            }
        }
    }

    fn address(&self, mem: Mem) -> Option<u64> {
        let mut address = mem.offset.cast_unsigned();
        for var in mem.vars() {
            address = address.wrapping_add(self.variable(var)?);
        }
        self.word(address).map(|_| address)
    }

    /// A variable as a place of the machine, if its words are of one type.
    fn place(&self, name: &str, shape: &Shape) -> Option<Place> {
        match shape {
            Shape::Number(number, at) => {
                let at = match at {
                    Held::Var(v) => self.location(*v)?,
                    Held::Mem(m) => word(self.address(*m)?),
                    Held::Const(_) => return None,
                };
                let own = |truth: bool| Variable { name: name.to_string(), truths: vec![truth], ..Variable::default() };
                let source = (*number == Number::Truth).then(|| Box::new(own(true)));
                Some(Place { source, ..Place::new(name, type_of(*number), at) })
            }
            Shape::Array { element, start, dims, by_column: true } => {
                let ty = type_of(*element.first()?);
                let one_type = element.iter().all(|n| type_of(*n) == ty && *n != Number::Unsigned);
                let dims: Vec<u64> = dims.iter().map(|d| self.operand(*d)).collect::<Option<_>>()?;
                let count = dims.iter().try_fold(element.len() as u64, |n, d| n.checked_mul(*d))?;
                let parts = match element.len() {
                    1 => Vec::new(),
                    2 if one_type => vec!["re".to_string(), "im".to_string()],
                    _ => return None,
                };
                let truths = element.iter().map(|n| *n == Number::Truth).collect();
                let variable = Variable { name: name.to_string(), dims, parts, truths, ..Variable::default() };
                let start = if count == 0 { 0 } else { self.address(*start)? };
                let at = Location::Memory { start, len: count, array: true };
                one_type.then(|| Place { source: Some(Box::new(variable)), ..Place::new(name, ty, at) })
            }
            Shape::Array { .. } | Shape::Stack { .. } | Shape::Parts(_) => None,
        }
    }

    /// An element of an array whose elements are counted from 0 and lie row by row: `a[1]`, `m[1][0]`.
    fn element(&self, name: &str, shape: &Shape, indices: &str) -> Option<Result<Place, String>> {
        let Shape::Array { element, start, dims, by_column: false } = shape else { return None };
        let [number] = element[..] else { return None };
        let dims: Vec<u64> = dims.iter().map(|d| self.operand(*d)).collect::<Option<_>>()?;
        let inner = indices.strip_suffix(']')?;
        let of: Option<Vec<u64>> = inner.split("][").map(|i| i.trim().parse().ok()).collect();
        let sizes = dims.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ");
        let Some(of) = of.filter(|of| of.len() == dims.len() && of.iter().zip(&dims).all(|(i, d)| i < d)) else {
            return Some(Err(format!("`{name}` is no element: the array has {sizes}, counted from 0")));
        };
        let n = of.iter().zip(&dims).fold(0, |n, (i, d)| n * d + i);
        let at = word(self.address(*start)?.checked_add(n)?);
        Some(Ok(Place::new(name, type_of(number), at)))
    }

    fn operand(&self, operand: pendula_compiler::ir::Operand) -> Option<u64> {
        use pendula_compiler::ir::Operand;
        match operand {
            Operand::Const(k) => Some(k),
            Operand::Var(v) => self.variable(v),
            Operand::Mem(m) => self.word(self.address(m)?),
        }
    }
}

fn word(start: u64) -> Location {
    Location::Memory { start, len: 1, array: false }
}

/// The type by which a word is read.
fn type_of(number: Number) -> Ty {
    match number {
        Number::Plain(ty) => ty,
        Number::Unsigned | Number::Truth => Ty::Int,
    }
}

impl<'p> Locals<'p> {
    pub(super) fn new(source: &'p CompiledSource) -> Locals<'p> {
        let functions = |of: &'p Option<pendula_compiler::ir::Program>| of.as_ref().map_or(&[][..], |p| &p.functions);
        let (now, before) = (functions(&source.program), functions(&source.source));
        let kept = now
            .iter()
            .enumerate()
            .map(|(n, f)| before.get(n).is_some_and(|old| old.vars == f.vars && old.body == f.body));
        Locals { source, kept: kept.collect() }
    }

    /// What compiling the program gave.
    pub(super) fn source(&self) -> &'p CompiledSource {
        self.source
    }

    /// The function that a machine is in, where it is between two operations of it.
    fn running<'s>(&'s self, machine: &'s Machine<'s>) -> Result<Running<'s>, Absent> {
        let pc = machine.pc().ok_or(Absent::Outside)?;
        let at = if is_backward(machine) { pc + 1 } else { pc };
        let n = self.source.places.function(at).ok_or_else(|| absent_in_main(machine, pc))? as usize;
        let scope = self.source.places.before(at).ok_or(Absent::Within)?;
        if !self.kept.get(n).copied().unwrap_or(false) {
            return Err(Absent::Optimised);
        }
        let function = self.source.program.as_ref().and_then(|p| p.functions.get(n)).ok_or(Absent::Outside)?;
        Ok(Running { machine, function, scope })
    }
}

/// Where the code that passes the arguments runs, they are in the data only before it begins.
fn absent_in_main(machine: &Machine<'_>, pc: u32) -> Absent {
    let code = &machine.program().module().code;
    let run = code.get(pc as usize).is_some_and(|inst| inst.kind.flow() == Flow::Run);
    if run { Absent::Outside } else { Absent::Within }
}

/// Why variables are not known at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// No function of the source is running: the arguments are in the data.
    Outside,
    /// The machine is within an operation.
    Within,
    /// Optimisations have changed the function.
    Optimised,
}

impl Absent {
    /// The reason, for messages.
    pub(super) fn why(self) -> &'static str {
        match self {
            Absent::Outside => "no function of the program is running",
            Absent::Within => "the machine is within a statement: `step` goes to the next one",
            Absent::Optimised => "optimisations have changed the function; compiled with `-O0`, it keeps its variables",
        }
    }
}

impl Session<'_> {
    /// The variables of the function that is running, those with values first told; an error says why they are not known.
    ///
    /// # Errors
    /// Why they are not known.
    pub fn locals(&self) -> Result<Vec<Local>, &'static str> {
        let Some(locals) = &self.locals else { return Ok(Vec::new()) };
        let running = locals.running(self.machine()).map_err(Absent::why)?;
        let (terms, format) = (language::terms_of(locals.source), self.code.module().flags.format);
        let local = |named: &NamedOperand| {
            let value: Option<HeldValue> = held(&running, &named.shape);
            Local { name: named.name.clone(), text: value.map(|held| held_text(&held, terms, format)) }
        };
        Ok(running.function.names.iter().map(local).collect())
    }

    /// Whether names mean variables of functions at this moment, and not the program's arguments in the data.
    pub fn has_locals(&self) -> bool {
        self.view().has_locals()
    }

    /// Whether a place belongs to a variable only while the function runs.
    pub(super) fn is_local(&self, place: &Place) -> bool {
        let data = self.code.module().data.len() as u64;
        match place.at {
            Location::Memory { start, .. } => self.has_locals() && start >= data,
            Location::Register(_) => self.has_locals(),
            Location::Cell(_) => false,
        }
    }

    /// The value of a variable that is no place of one type, as text.
    pub fn local_text(&self, name: &str) -> Option<String> {
        let locals = self.locals.as_ref()?;
        let running = locals.running(self.machine()).ok()?;
        let (_, shape) = find(&running, &running.function.names, name)?;
        let (terms, format) = (language::terms_of(locals.source), self.code.module().flags.format);
        Some(held_text(&held(&running, shape)?, terms, format))
    }
}

/// The variable of this name, or the part of one: `z.re`. Of several, it is the last that is alive.
fn find<'n>(running: &Running<'_>, names: &'n [NamedOperand], name: &str) -> Option<(String, &'n Shape)> {
    let own = || names.iter().rev().filter(|named| named.name == name);
    if let Some(own) = own().find(|named| held(running, &named.shape).is_some()).or_else(|| own().next()) {
        return Some((own.name.clone(), &own.shape));
    }
    names.iter().rev().find_map(|named| {
        let rest = name.strip_prefix(named.name.as_str())?.strip_prefix('.')?;
        let Shape::Parts(parts) = &named.shape else { return None };
        find(running, parts, rest).map(|(_, shape)| (name.to_string(), shape))
    })
}

impl View<'_> {
    /// Whether names mean variables of functions at this moment, and not the program's arguments in the data.
    pub(super) fn has_locals(&self) -> bool {
        self.locals.is_some_and(|locals| locals.running(self.machine).err() != Some(Absent::Outside))
    }

    /// A variable of the function that is running, or a part of one; `None` if it has none of this name.
    pub(super) fn local(&self, name: &str) -> Option<Result<Place, String>> {
        let locals = self.locals?;
        let (base, index) = match name.split_once('[') {
            Some((base, rest)) => (base.trim_end(), Some(rest)),
            None => (name, None),
        };
        let running = match locals.running(self.machine) {
            Ok(running) => running,
            Err(Absent::Outside) => return None,
            Err(absent) => return Some(Err(format!("`{base}` is not here now: {}", absent.why()))),
        };
        let (named, shape) = find(&running, &running.function.names, base)?;
        if let Some(element) = index.and_then(|index| running.element(name, shape, index)) {
            return Some(element);
        }
        let Some(place) = running.place(&named, shape) else {
            return Some(Err(match held(&running, shape) {
                Some(_) => format!("`{base}` has several words: `info variables` shows it"),
                None => format!("`{base}` is not here now: it has not begun, or it has ended"),
            }));
        };
        match index {
            None => Some(Ok(place)),
            Some(_) => Some(crate::state::values::part_of(&place, name).map_err(|e| e.to_string())),
        }
    }

    /// The number of the function that is running, if its variables are known here.
    pub(super) fn function(&self) -> Option<u32> {
        let locals = self.locals?;
        locals.running(self.machine).ok()?;
        let pc = self.machine.pc()?;
        locals.source.places.function(if is_backward(self.machine) { pc + 1 } else { pc })
    }
}
