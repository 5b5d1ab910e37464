//! The layout of a variable in the source: the lengths of an array, and the positions of its elements.

use pendula_compiler::lower::ArgumentKind;
use pendula_compiler::nil::types::Type;
use pendula_isa::module::length_of;
use pendula_isa::types::Ty;

use crate::state::arrays::row_by_row;
use crate::state::compiled::CompiledSource;
use crate::state::values::Place;

/// How an array's elements are stored in its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The lengths of its dimensions.
    pub lens: Vec<usize>,
    /// The number of words of an element.
    pub per: usize,
    /// True if these are the real and the imaginary part of a complex number.
    pub complex: bool,
    /// The positions of the words in row-major order: `A[i,j]` before `A[i,j+1]`.
    pub order: Vec<usize>,
    /// True if the array belongs to an array of arrays, whose elements its first dimension counts.
    pub stacked: bool,
}

impl Layout {
    /// The layout of a column-major array that has this many words in all.
    fn of(lens: Vec<usize>, words: usize, complex: bool) -> Layout {
        let elements: usize = lens.iter().product();
        let per = words.checked_div(elements).unwrap_or(1);
        let order = row_by_row(&lens).into_iter().flat_map(|at| (0..per).map(move |n| at * per + n)).collect();
        Layout { lens, per, complex: complex && per == 2, order, stacked: false }
    }

    /// The layout of arrays one after the other; in memory, the dimension that counts them is the last.
    fn stacked(mut lens: Vec<usize>, words: usize, complex: bool) -> Layout {
        let count = lens.pop().unwrap_or(0);
        let inner = Layout::of(lens, words.checked_div(count).unwrap_or(0), complex);
        let size = inner.order.len();
        let order = (0..count).flat_map(|n| inner.order.iter().map(move |at| n * size + at)).collect();
        let lens = std::iter::once(count).chain(inner.lens).collect();
        Layout { lens, order, stacked: true, ..inner }
    }

    /// The layout of one of the arrays that are one after the other.
    pub fn inner(&self) -> Layout {
        let size = self.order.len().checked_div(self.lens.first().copied().unwrap_or(0)).unwrap_or(0);
        let (lens, order) =
            (self.lens.get(1..).unwrap_or(&[]).to_vec(), self.order.get(..size).unwrap_or(&[]).to_vec());
        Layout { lens, order, stacked: false, ..self.clone() }
    }

    /// The layout of a vector when it has this many words.
    pub fn with_words(&self, words: usize) -> Layout {
        Layout { lens: vec![words / self.per.max(1)], order: (0..words).collect(), ..self.clone() }
    }
}

/// The number of elements that a vector has before a run.
fn initial(nil: &CompiledSource, name: &str) -> usize {
    let length = length_of(name);
    let own = nil.arguments.iter().find(|a| a.name == length);
    own.and_then(|a| a.words().first()).map_or(0, |n| *n as usize)
}

/// The layouts of the arrays among the arguments of a Nil program.
#[derive(Clone, Debug, Default)]
pub struct Layouts(Vec<(String, Layout)>);

impl Layouts {
    /// The layouts of a program; none if it is in another language.
    pub fn of(nil: Option<&CompiledSource>) -> Layouts {
        let Some(nil) = nil else { return Layouts::default() };
        let one = |a: &pendula_compiler::lower::Argument| match &a.kind {
            // A vector that grows has its length beside it.
            ArgumentKind::Array { lens, words, .. } if lens.is_empty() => {
                let element = element_of(nil, &a.name)?;
                let per = element.words()?.max(1).unsigned_abs() as usize;
                let layout =
                    Layout { lens: vec![0], per, complex: is_pair(element), order: Vec::new(), stacked: false };
                Some((a.name.clone(), layout.with_words(initial(nil, &a.name).min(words.len() / per) * per)))
            }
            ArgumentKind::Array { lens, words, .. } => {
                let lens = lens.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect();
                let (of, complex) = (is_stacked(nil, &a.name), is_complex(nil, &a.name));
                let layout = if of { Layout::stacked } else { Layout::of };
                Some((a.name.clone(), layout(lens, words.len(), complex)))
            }
            ArgumentKind::Word { .. } | ArgumentKind::Constant(_) => None,
        };
        Layouts(nil.arguments.iter().filter_map(one).collect())
    }

    /// The layout of a place if it is a whole array, found by its name, with or without a type suffix (`x.f`).
    pub fn get(&self, place: &Place) -> Option<&Layout> {
        let find = |name: &str| self.0.iter().find(|(n, _)| n == name).map(|(_, layout)| layout);
        if let Some(source) = &place.source {
            // An element of an argument, or a part of it, is not itself an argument.
            return find(&source.symbol).filter(|_| !source.dims.is_empty());
        }
        let letter = |suffix: &str| suffix.len() == 1 && suffix.chars().all(|c| Ty::from_letter(c).is_some());
        let read = place.name.rsplit_once('.').filter(|(_, suffix)| letter(suffix));
        find(&place.name).or_else(|| read.and_then(|(name, _)| find(name)))
    }
}

/// True if the elements of the array with this name are complex.
fn is_complex(nil: &CompiledSource, name: &str) -> bool {
    element_of(nil, name).is_some_and(is_pair)
}

/// True if the array with this name is a part of an array of arrays.
fn is_stacked(nil: &CompiledSource, name: &str) -> bool {
    let owner = nil.parameters.iter().position(|symbols| symbols.iter().any(|s| s == name));
    let begin = name.split('.').next().unwrap_or(name);
    owner.and_then(|n| nil.types.get(n)).is_some_and(|ty| within_stacked(ty, begin, name))
}

fn within_stacked(ty: &Type, name: &str, wanted: &str) -> bool {
    match ty {
        Type::Array { element, .. } => {
            let leaves = element.words().is_none().then(|| element.stacked(name)).flatten().unwrap_or_default();
            leaves.iter().any(|(leaf, _)| leaf == wanted)
        }
        Type::Struct(s) => s.fields.iter().any(|(f, ty)| within_stacked(ty, &format!("{name}.{f}"), wanted)),
        Type::Tuple(parts) => (1..).zip(parts).any(|(n, ty)| within_stacked(ty, &format!("{name}.{n}"), wanted)),
        Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. } | Type::Function(_) => {
            false
        }
    }
}

/// The type of the elements of the array with this name.
fn element_of<'t>(nil: &'t CompiledSource, name: &str) -> Option<&'t Type> {
    let owner = nil.parameters.iter().position(|symbols| symbols.iter().any(|s| s == name));
    let begin = name.split('.').next().unwrap_or(name);
    owner.and_then(|n| nil.types.get(n)).and_then(|ty| element(ty, begin, name))
}

fn is_pair(ty: &Type) -> bool {
    matches!(ty, Type::Complex(_))
}

/// The element type of the array named `wanted`, within a value of type `ty` named `name`.
fn element<'t>(ty: &'t Type, name: &str, wanted: &str) -> Option<&'t Type> {
    match ty {
        Type::Array { element, .. } if element.words().is_none() => self::element(element, name, wanted),
        Type::Array { element, .. } => (name == wanted).then_some(element),
        Type::Struct(s) => s.fields.iter().find_map(|(field, ty)| element(ty, &format!("{name}.{field}"), wanted)),
        Type::Tuple(parts) => (1..).zip(parts).find_map(|(n, ty)| element(ty, &format!("{name}.{n}"), wanted)),
        Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. } | Type::Function(_) => None,
    }
}
