//! The layout of a variable in the source: the lengths of an array, and the positions of its elements.

use pendula_compiler::lower::ArgumentKind;
use pendula_compiler::nil::types::Type;
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
}

impl Layout {
    /// The layout of a column-major array that has this many words in all.
    fn of(lens: Vec<usize>, words: usize, complex: bool) -> Layout {
        let elements: usize = lens.iter().product();
        let per = words.checked_div(elements).unwrap_or(1);
        let order = row_by_row(&lens).into_iter().flat_map(|at| (0..per).map(move |n| at * per + n)).collect();
        Layout { lens, per, complex: complex && per == 2, order }
    }
}

/// The layouts of the arrays among the arguments of a Nil program.
#[derive(Clone, Debug, Default)]
pub struct Layouts(Vec<(String, Layout)>);

impl Layouts {
    /// The layouts of a program; none if it is in another language.
    pub fn of(nil: Option<&CompiledSource>) -> Layouts {
        let Some(nil) = nil else { return Layouts::default() };
        let one = |a: &pendula_compiler::lower::Argument| match &a.kind {
            ArgumentKind::Array { lens, words, .. } => {
                let lens = lens.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect();
                let layout = Layout::of(lens, words.len(), is_complex(nil, &a.name));
                Some((a.name.clone(), layout))
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
    let owner = nil.parameters.iter().position(|symbols| symbols.iter().any(|s| s == name));
    let begin = name.split('.').next().unwrap_or(name);
    owner.and_then(|n| nil.types.get(n)).and_then(|ty| element(ty, begin, name)).is_some_and(is_pair)
}

fn is_pair(ty: &Type) -> bool {
    matches!(ty, Type::Complex(_))
}

/// The element type of the array named `wanted`, within a value of type `ty` named `name`.
fn element<'t>(ty: &'t Type, name: &str, wanted: &str) -> Option<&'t Type> {
    match ty {
        Type::Array { element, .. } => (name == wanted).then_some(element),
        Type::Struct(s) => s.fields.iter().find_map(|(field, ty)| element(ty, &format!("{name}.{field}"), wanted)),
        Type::Tuple(parts) => (1..).zip(parts).find_map(|(n, ty)| element(ty, &format!("{name}.{n}"), wanted)),
        Type::Num(_) | Type::Bool | Type::Complex(_) | Type::Tropical(_) | Type::Log { .. } | Type::Function(_) => None,
    }
}
