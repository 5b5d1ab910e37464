//! Items of `grad --batch` by code for whole runs, without all that a single run may report.

use std::ops::Range;

use pendula::arrays::Texts;
use pendula::batch::MemoryBudget;
use pendula::grad::{Options, data, variables};
use pendula::isa::Env;
use pendula::isa::text::push_number;
use pendula::isa::types::Ty;
use pendula::values::{Location, Place};
use pendula::vm::Machine;
use pendula::vm::gradient::{Cell, Variable, one};

use super::item_inputs::ItemInputs;
use super::save::{Files, Words};
use crate::cli::args::Grad;
use crate::cli::commands::grad::{ELEMENTS, push_numbers};

/// A gradient of one floating-point number with respect to others, of which nothing but the numbers is wanted.
pub(crate) struct Quick {
    loss: usize,
    seed: u64,
    inputs: Vec<Place>,
    places: Vec<Range<usize>>,
    /// The names of the numbers that are printed.
    names: Vec<String>,
    /// Which of the results are printed: the loss, then the derivatives.
    printed: Vec<bool>,
    /// The most elements of an array that are printed.
    elements: usize,
}

/// How many bytes the text of a double mostly takes at most.
const LIKELY: usize = 20;

/// What an item came to.
pub(crate) struct Numbers {
    pub(crate) cells: Texts,
    pub(crate) words: Words,
}

impl Quick {
    /// What is to be differentiated, if it is so simple.
    pub(crate) fn new(
        args: &Grad,
        options: &Options,
        (loss, inputs): (&Place, &[Place]),
        files: &Files,
    ) -> Option<Quick> {
        let more =
            options.hessian || options.jacobian || options.check || options.keep_dropped || options.seed.is_some();
        let told = args.json || args.stats || args.drift || args.hex || args.given.max_steps.is_some();
        let &[Variable { cell: Cell::Word(at), ty: Ty::F }] = variables(loss).as_slice() else { return None };
        let is_simple = |p: &Place| p.ty == Ty::F && matches!(p.at, Location::Memory { .. }) && p.growing.is_none();
        if more || told || !inputs.iter().all(is_simple) {
            return None;
        }
        let printed: Vec<bool> = (0..=inputs.len()).map(|n| !files.has(n)).collect();
        let names = std::iter::once(loss.words().into_iter().next().unwrap_or_default());
        let names = names.chain(inputs.iter().map(|input| format!("∂/∂{}", input.name)));
        Some(Quick {
            loss: at,
            seed: one(Env::default(), Ty::F),
            inputs: inputs.to_vec(),
            places: data(inputs),
            names: names.zip(&printed).filter(|(_, printed)| **printed).map(|(name, _)| name).collect(),
            printed,
            elements: if args.wrt.is_empty() { ELEMENTS } else { usize::MAX },
        })
    }

    /// The names of the numbers that are printed.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Runs an item forward and back. `None` if other code has to: where there is none for whole runs yet, or it gives up.
    pub(crate) fn item(
        &self,
        machine: &mut Machine<'_>,
        room: &mut MemoryBudget,
        (given, item): (&ItemInputs, usize),
        saved: bool,
    ) -> Option<Numbers> {
        given.set(machine, item);
        machine.set_independent(Some(&self.places));
        let ran = machine.run_forward_and_back(&[(self.loss, self.seed)]);
        machine.set_independent(None);
        let is_finite = |word: &u64| f64::from_bits(*word).is_finite();
        if !ran || !self.places.iter().all(|at| machine.gradient_words(at.clone()).iter().all(is_finite)) {
            return None;
        }
        let format = machine.program().module().flags.format;
        let loss = machine.midpoint_word(self.loss);
        let mut cells = Texts::with_capacity(self.names.len(), LIKELY * self.names.len());
        if self.printed[0] {
            push_number(cells.open(), loss, Ty::F, format);
            cells.end();
        }
        let mut words = if saved { vec![vec![loss]] } else { Vec::new() };
        for ((input, at), printed) in self.inputs.iter().zip(&self.places).zip(&self.printed[1..]) {
            let gradient = machine.gradient_words(at.clone());
            if *printed {
                let one = |out: &mut String, n: usize| push_number(out, gradient[n], Ty::F, format);
                push_numbers(cells.open(), input, gradient.len(), self.elements, one);
                cells.end();
            }
            if saved {
                words.push(gradient.to_vec());
            }
        }
        room.keep_machine();
        Some(Numbers { cells, words })
    }
}
