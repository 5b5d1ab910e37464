//! What there is to see at a moment: values, calls, the next statement.

use std::collections::BTreeSet;

use pendula_compiler::janus::store::Variable;
use pendula_isa::adjoint::{GRADIENT, SECOND};
use pendula_isa::num::convert::to_f64;
use pendula_isa::text::number;
use pendula_isa::types::{Reg, Ty};
use pendula_vm::Machine;

use super::code::{Code, is_call};
use super::expr::{self, Value};
use super::locals::Locals;
use super::{Session, Statement};
use crate::report::calls::{self, Frames};
use crate::state::language;
use crate::state::store;
use crate::state::values::{self, Location, Place};

/// The greatest number of elements of an array that are shown unless more are asked for.
pub(super) const ELEMENTS: usize = 16;

/// A procedure that is running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name.
    pub name: String,
    /// Whether it runs backward.
    pub back: bool,
    /// The instruction that is next in it, or the call that has not returned.
    pub at: u32,
    /// Its place in the source.
    pub statement: Option<Statement>,
}

/// The call of the procedure that is running.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    /// The call instruction, the direction there, and the stack pointer before it.
    pub(super) called: u32,
    pub(super) back: bool,
    pub(super) sp: u64,
}

/// A machine, and what its names mean.
#[derive(Clone, Copy)]
pub(super) struct View<'s> {
    pub(super) machine: &'s Machine<'s>,
    pub(super) code: &'s Code<'s>,
    pub(super) store: Option<&'s [Variable]>,
    pub(super) locals: Option<&'s Locals<'s>>,
}

impl View<'_> {
    /// The place of a name: a register, a data symbol, a variable, or the word at an address, `[12]`.
    ///
    /// # Errors
    /// There is nothing of this name.
    pub(super) fn place(&self, name: &str) -> Result<Place, String> {
        let name = name.trim();
        if let Some(inner) = name.strip_prefix('[').and_then(|n| n.split_once(']')) {
            return self.word_place(name, inner);
        }
        if let Some(local) = self.local(name) {
            return local;
        }
        let found = store::find(self.code.module(), self.store, name).map_err(|error| error.to_string())?;
        if self.has_locals() {
            return Err(format!("`{name}` is not here now: it is no variable of the function that is running"));
        }
        Ok(found)
    }

    /// `[r1 + 2]`, `[x + 1].f`: the word at an address.
    fn word_place(&self, name: &str, (inner, end): (&str, &str)) -> Result<Place, String> {
        // What is in memory is named by its address, as in the assembly.
        let address = expr::evaluate(inner, &|name| {
            let place = self.place(name)?;
            let word = || self.number_of(&place).ok_or_else(|| format!("`{name}` is no number"));
            match place.at {
                Location::Memory { start, .. } => Ok(Value::Int(start.cast_signed())),
                Location::Cell(at) => Ok(Value::Int(i64::from(at))),
                Location::Register(_) => word(),
            }
        })?;
        let Value::Int(address) = address else { return Err(format!("`{inner}` is no address")) };
        let address = address.cast_unsigned();
        let mut chars = end.chars();
        let ty = match (chars.next(), chars.next().map(Ty::from_letter), chars.next()) {
            (None, ..) => Ty::Int,
            (Some('.'), Some(Some(ty)), None) => ty,
            _ => return Err(format!("`{end}` after an address is no type: write `.q`, `.l` or `.f`")),
        };
        let pisa = language::of((self.code.module(), self.store)).word_at(self.machine, address).is_some();
        if !pisa {
            return Err(format!(
                "the address {address} is outside of the memory of {} words",
                self.machine.memory().len()
            ));
        }
        let in_memory = (address as usize) < self.machine.memory().len();
        let at = match in_memory {
            true => Location::Memory { start: address, len: 1, array: false },
            false => Location::Cell(address as u32),
        };
        Ok(Place::new(name, ty, at))
    }

    /// The value of an expression over the names of [`Session::place`].
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub(super) fn evaluate(&self, text: &str) -> Result<Value, String> {
        expr::evaluate(text, &|name| {
            let place = self.place(name)?;
            self.number_of(&place).ok_or_else(|| format!("`{name}` is {} words: name one of them", place.count()))
        })
    }

    /// The number in a place of one word.
    fn number_of(&self, place: &Place) -> Option<Value> {
        let words = values::words(self.machine, place);
        let [word] = words[..] else { return None };
        let env = self.machine.env();
        Some(match place.ty {
            Ty::Int => Value::Int(word.cast_signed()),
            ty => Value::Real(to_f64(env, ty, word)),
        })
    }
}

impl Session<'_> {
    /// The statement that is next, if the machine has not ended and the source is known.
    pub fn statement(&self) -> Option<Statement> {
        self.code.statement(self.machine().pc()?)
    }

    /// Whether what is next undoes something: it runs backward, or it belongs to the inverse of a routine.
    pub fn is_undoing(&self) -> bool {
        self.machine().pc().is_some_and(|at| self.code.undoes(at) != self.is_backward())
    }

    /// The procedures that are running, the innermost first, as far as the stack says it.
    pub fn frames(&self) -> Vec<Frame> {
        let Some(at) = self.machine().pc() else { return Vec::new() };
        let frame = |f: &calls::Frame| Frame {
            name: self.code.procedure(f.at).unwrap_or_else(|| format!("@{}", f.region.start)),
            back: f.back,
            at: f.at,
            statement: self.code.statement(f.at),
        };
        let mut frames = self.stack().of(self.machine(), at);
        // What passes the arguments to the entry is none of the program's.
        let added = |f: &calls::Frame| f.region.main && self.code.module().is_compiled(f.at as usize);
        if frames.len() > 1 && frames.last().is_some_and(added) {
            frames.pop();
        }
        frames.iter().map(frame).collect()
    }

    /// What is known of the stack in the code.
    fn stack(&self) -> &Frames {
        self.stack.get_or_init(|| Frames::new(self.code.module()))
    }

    /// The call of the procedure that is running.
    pub(super) fn caller(&self) -> Result<Caller, String> {
        let at = self.machine().pc().ok_or("the run has ended")?;
        let frames = self.stack().of(self.machine(), at);
        match &frames[..] {
            [inner, outer, ..] => match inner.called {
                Some(called) => Ok(Caller { called, back: outer.back, sp: inner.sp }),
                None => Err("the stack does not say what called this".to_string()),
            },
            [only] if only.region.main => Err("this is where the run began: nothing called it".to_string()),
            _ => Err("the stack does not say what called this".to_string()),
        }
    }

    /// What there is to see.
    pub(super) fn view(&self) -> View<'_> {
        View { machine: self.machine(), code: &self.code, store: self.store, locals: self.locals.as_ref() }
    }

    /// The place of a name: a register, a data symbol, a variable, or the word at an address, `[12]`.
    ///
    /// # Errors
    /// There is nothing of this name.
    pub fn place(&self, name: &str) -> Result<Place, String> {
        self.view().place(name)
    }

    /// The value of an expression over the names of [`Session::place`].
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn evaluate(&self, text: &str) -> Result<Value, String> {
        self.view().evaluate(text)
    }

    /// Whether a text is an expression, whatever its names mean.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, text: &str) -> Result<(), String> {
        expr::evaluate(text, &|_| Ok(Value::Int(1))).map(|_| ())
    }

    /// A name's value as text, in full if it is one number.
    pub fn text(&self, place: &Place, hex: bool) -> String {
        values::text(self.machine(), place, hex, ELEMENTS)
    }

    /// The gradient words of a place, if words have any at this moment.
    pub fn gradient(&self, place: &Place) -> Option<String> {
        let machine = self.machine();
        (machine.ad_mode().level() > 0 && place.ty != Ty::Int).then(|| self.lane(place, GRADIENT))
    }

    /// The tangents of a place, if words have any at this moment.
    pub fn tangent(&self, place: &Place) -> Option<String> {
        (self.machine().ad_mode().has_tangents() && place.ty != Ty::Int).then(|| self.lane(place, SECOND))
    }

    fn lane(&self, place: &Place, lane: usize) -> String {
        let machine = self.machine();
        let one = |word: u64| number(word, place.ty, machine.program().module().flags.format);
        match place.at {
            Location::Register(reg) => one(machine.lane_register(lane, reg)),
            Location::Cell(_) => one(0),
            Location::Memory { start, len, array } => {
                let words = (start..start + len).map(|at| machine.lane_word(lane, at as usize));
                if !array {
                    return words.map(one).next().unwrap_or_default();
                }
                let mut items: Vec<String> = words.take(ELEMENTS).map(one).collect();
                if len as usize > ELEMENTS {
                    items.push(format!("… {len} words in all"));
                }
                format!("[{}]", items.join(", "))
            }
        }
    }

    /// The variables of the program, in the order in which a run shows them, and the registers that are not zero in a program that has
    /// registers by name.
    pub fn variables(&self) -> Vec<Place> {
        let names = (self.code.module(), self.store);
        let language = language::of(names);
        let mut seen = BTreeSet::new();
        let mut out: Vec<Place> = language.inputs(names, false);
        out.extend(language.results(names, false));
        out.retain(|place| seen.insert(place.name.clone()));
        out
    }

    /// The registers that are not zero.
    pub fn registers(&self) -> Vec<Place> {
        let machine = self.machine();
        let language = language::of((self.code.module(), self.store));
        let all = (0..Reg::COUNT as u8).filter_map(Reg::new);
        let used = all.filter(|r| machine.registers()[r.index()] != 0 && Some(*r) != language.zero());
        used.map(|r| Place::new(language.register(r), Ty::Int, Location::Register(r))).collect()
    }

    /// Whether names of registers mean something to users of the program.
    pub fn has_registers(&self) -> bool {
        self.store.is_none() && self.code.module().variables.is_empty()
    }

    /// An instruction as text.
    pub fn instruction(&self, at: u32) -> String {
        let module = self.code.module();
        let native = || {
            let inst = module.code.get(at as usize);
            inst.map_or(String::new(), |inst| {
                pendula_isa::text::display(inst, u64::from(at), &pendula_isa::text::ModuleNames(module)).to_string()
            })
        };
        language::of((module, self.store)).line(module, at).unwrap_or_else(native)
    }

    /// Whether an instruction calls a procedure.
    pub fn is_call(&self, at: u32) -> bool {
        self.code.module().code.get(at as usize).is_some_and(is_call)
    }

    /// Sets a part of the state: `x=5`. The way back from here then leads to states that the run did not have.
    ///
    /// # Errors
    /// As [`store::set`].
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        let (name, value) = assignment.split_once('=').ok_or("write it as `x=5`")?;
        let (store, name, value) = (self.store, name.trim(), value.trim());
        if name.starts_with('[') || self.has_locals() {
            let place = self.place(name)?;
            return self.line.change(|m| values::put_text(m, &place, value)).map_err(|error| error.to_string());
        }
        self.line.change(|machine| store::set(machine, store, assignment)).map_err(|error| error.to_string())
    }
}
