//! The items of an array file, along its first axis: what the runs of a batch begin with.

use pendula_compiler::nil::sema::Argument;

use crate::arguments;
use crate::arrays::{self, ArrayError, Elements, Number, Table, places};

/// An array file as a list of items.
#[derive(Debug)]
pub struct Items {
    path: String,
    elements: Elements,
    lines: Vec<u64>,
    names: Option<Vec<String>>,
    count: usize,
    shape: Vec<usize>,
    /// How far apart items are.
    stride: usize,
    /// Where an item's elements lie, from its first one on: row by row, and column by column.
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Items {
    /// Reads a `.npy` file, whose first axis counts the items, or a `.csv` file, an item in each row: a number where there is one
    /// column, else a list of numbers. A first row of names names the columns.
    ///
    /// # Errors
    /// What [`arrays::read`] refuses, a file without items, rows of different lengths.
    pub fn read(path: &str) -> Result<Items, ArrayError> {
        Items::of(path, arrays::table(path)?)
            .map_err(|message| ArrayError { path: path.to_string(), message: message.to_string() })
    }

    fn of(path: &str, mut table: Table) -> Result<Items, String> {
        let mut names = None;
        if let Elements::Text(cells) = &mut table.elements {
            if table.ragged {
                return Err("its rows have different lengths; an item has as many numbers as every other".to_string());
            }
            let width = cells.len() / table.lines.len().max(1);
            if width > 0 && cells[..width].iter().all(|cell| is_name(cell)) {
                names = Some(cells.drain(..width).collect());
                table.lines.remove(0);
            }
            table.shape = if width == 1 { vec![table.lines.len()] } else { vec![table.lines.len(), width] };
        }
        let strides = table.strides();
        let (Some((&count, shape)), Some((&stride, strides))) = (table.shape.split_first(), strides.split_first())
        else {
            return Err("it holds a single number: the first axis of a batch counts its items".to_string());
        };
        if count == 0 {
            return Err("it holds no items".to_string());
        }
        Ok(Items {
            path: path.to_string(),
            rows: places(shape, strides, false),
            columns: places(shape, strides, true),
            shape: shape.to_vec(),
            elements: table.elements,
            lines: table.lines,
            names,
            count,
            stride,
        })
    }

    /// The file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// How many items there are: one at least.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The lengths of an item's dimensions: none if it is a number.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The shape as text: `a number`, `3 numbers`, `2 × 3 numbers`.
    pub fn shape_text(&self) -> String {
        match &self.shape[..] {
            [] | [1] => "a number".to_string(),
            lens => format!("{} numbers", lens.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ")),
        }
    }

    /// The columns' names, if the file has them.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// An item's numbers, row by row; of `column`, if it is given, only that one's. A complex number is two.
    pub fn numbers(&self, item: usize, column: Option<usize>) -> Vec<Number> {
        self.collect(item, column, &self.rows)
    }

    fn collect(&self, item: usize, column: Option<usize>, places: &[usize]) -> Vec<Number> {
        let places = match column {
            Some(n) => places.get(n..=n).unwrap_or(&[]),
            None => places,
        };
        let mut out = Vec::with_capacity(places.len());
        for at in places {
            self.elements.numbers(item * self.stride + at, &mut out);
        }
        out
    }

    /// An item as an argument of a program in Nil: an array's elements column by column. With `scalar`, an item of one element is a number.
    pub fn argument(&self, item: usize, column: Option<usize>, scalar: bool) -> Argument {
        let numbers = self.collect(item, column, &self.columns);
        let mut numbers: Vec<_> = numbers.into_iter().map(arguments::number).collect();
        if !(scalar || column.is_some() || self.shape.is_empty()) {
            return Argument::Array(self.shape.clone(), numbers);
        }
        match numbers.pop() {
            Some(one) if numbers.is_empty() => Argument::Number(one),
            last => Argument::Tuple(numbers.into_iter().chain(last).map(Argument::Number).collect()),
        }
    }

    /// The item that tells most about its type: the first with a number that is not whole, if there is one.
    pub fn telling(&self, column: Option<usize>) -> usize {
        let whole = |item: &usize| self.numbers(*item, column).into_iter().all(|n| arguments::number(n).is_whole());
        match &self.elements {
            // No doubles are, all integers are.
            Elements::Int(_) | Elements::Uint(_) | Elements::Float(_) | Elements::Complex(_) => 0,
            Elements::Text(_) => (0..self.count).find(|item| !whole(item)).unwrap_or(0),
        }
    }

    /// Whether a column of doubles holds whole numbers only, which may be meant as integers beside columns that are not.
    pub fn is_whole(&self, column: usize) -> bool {
        let whole = |item| match &self.numbers(item, Some(column))[..] {
            [Number::Float(x)] => x.fract() == 0.0 && x.abs() < 9.0e15,
            _ => false,
        };
        matches!(self.elements, Elements::Float(_)) && (0..self.count).all(whole)
    }

    /// Where an item is, for messages: `x.npy: item 3`, `x.csv: item 3 (line 5)`.
    pub fn place(&self, item: usize) -> String {
        match self.lines.get(item) {
            Some(line) => format!("{}: item {item} (line {line})", self.path),
            None => format!("{}: item {item}", self.path),
        }
    }
}

/// Whether a cell names something and is no number.
fn is_name(cell: &str) -> bool {
    let number = ["nan", "inf", "infinity", "true", "false"].iter().any(|n| cell.eq_ignore_ascii_case(n));
    !number && cell.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(shape: &[usize], by_column: bool) -> Table {
        let count: usize = shape.iter().product();
        let elements = Elements::Int((0..count as i64).collect());
        Table { shape: shape.to_vec(), elements, by_column, lines: Vec::new(), ragged: false }
    }

    fn ints(numbers: &[i128]) -> Vec<Number> {
        numbers.iter().map(|n| Number::Int(*n)).collect()
    }

    #[test]
    fn items_go_along_the_first_axis_in_either_order() {
        let items = Items::of("a.npy", table(&[2, 2, 3], false)).unwrap();
        assert_eq!((items.count(), items.shape()), (2, &[2, 3][..]));
        assert_eq!(items.numbers(1, None), ints(&[6, 7, 8, 9, 10, 11]));
        let Argument::Array(shape, numbers) = items.argument(1, None, false) else { panic!("no array") };
        assert_eq!(shape, [2, 3]);
        let wanted = ints(&[6, 9, 7, 10, 8, 11]);
        assert_eq!(numbers, wanted.into_iter().map(arguments::number).collect::<Vec<_>>());
        // Element (n, i, j) of a file that is written column by column is number n + 2 i + 4 j.
        let items = Items::of("a.npy", table(&[2, 2, 3], true)).unwrap();
        assert_eq!(items.numbers(1, None), ints(&[1, 5, 9, 3, 7, 11]));
        assert_eq!(items.numbers(0, Some(2)), ints(&[8]));
    }

    #[test]
    fn what_is_no_batch() {
        assert!(Items::of("a.npy", table(&[], false)).unwrap_err().contains("single number"));
        assert!(Items::of("a.npy", table(&[0, 3], false)).unwrap_err().contains("no items"));
        let none = Table { lines: Vec::new(), elements: Elements::Text(Vec::new()), ..table(&[0], false) };
        assert!(Items::of("a.csv", none).unwrap_err().contains("no items"));
    }
}
