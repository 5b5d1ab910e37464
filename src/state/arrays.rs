//! Arrays from files: comma-separated values and NumPy's `.npy`.

use std::io::BufRead;
use std::path::Path;

mod error;
mod npy;
mod rows;
mod texts;

pub(crate) use error::ReadError;
pub(crate) use npy::NpyHead;
use npy::npy_numbers;
pub use npy::{Column, NpyOutput, write_npy};
pub(crate) use rows::Rows;
pub use texts::Texts;

use pendula_compiler::nil::sema as argument;
use pendula_isa::budget::{Exceeded, Resource};

/// The most bytes of an array file that are read at once: 2^27 words of eight bytes, plus room for a header.
pub(crate) const LIMIT: u64 = (1 << 30) + (1 << 16);

/// The most numbers of a file that are read at once: the maximum number of words of a machine.
pub(crate) const MOST: usize = 1 << 27;

/// The most bytes of a row of comma-separated values: this many, plus this many for each expected number. The longest
/// number without needless digits, a subnormal double, has 1080 bytes.
const ROW: usize = 1 << 16;
const CELL: usize = 1 << 11;

/// A number as a file holds it, before it becomes a word of some type.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// Text, which is read exactly.
    Text(String),
    /// An integer.
    Int(i128),
    /// A double.
    Float(f64),
}

impl From<argument::Number> for Number {
    fn from(n: argument::Number) -> Number {
        match n {
            argument::Number::Text(text) => Number::Text(text),
            argument::Number::Int(n) => Number::Int(n.into()),
            argument::Number::Float(x) => Number::Float(x),
        }
    }
}

/// What a file holds.
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    /// The lengths of the dimensions; for text, those of a matrix, or the number of numbers.
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Elements,
    /// True if the elements are in column-major order, false if in row-major order.
    pub(crate) by_column: bool,
    /// True if rows have different lengths.
    pub(crate) ragged: bool,
}

/// A file's elements, in the file's order.
#[derive(Debug, PartialEq)]
pub(crate) enum Elements {
    Text(Texts),
    Int(Vec<i64>),
    Uint(Vec<u64>),
    Float(Vec<f64>),
    Complex(Vec<[f64; 2]>),
}

impl Elements {
    pub(crate) fn len(&self) -> usize {
        match self {
            Elements::Text(v) => v.len(),
            Elements::Int(v) => v.len(),
            Elements::Uint(v) => v.len(),
            Elements::Float(v) => v.len(),
            Elements::Complex(v) => v.len(),
        }
    }

    /// Appends the numbers of an element: one number, or the real and the imaginary part.
    pub(crate) fn numbers(&self, at: usize, out: &mut Vec<Number>) {
        match self {
            Elements::Text(v) => out.extend(v.get(at).map(|t| Number::Text(t.to_string()))),
            Elements::Int(v) => out.extend(v.get(at).map(|k| Number::Int((*k).into()))),
            Elements::Uint(v) => out.extend(v.get(at).map(|k| Number::Int((*k).into()))),
            Elements::Float(v) => out.extend(v.get(at).map(|x| Number::Float(*x))),
            Elements::Complex(v) => out.extend(v.get(at).into_iter().flatten().map(|x| Number::Float(*x))),
        }
    }
}

impl Table {
    /// For each dimension, the distance between elements whose indices differ by one.
    pub(crate) fn strides(&self) -> Vec<usize> {
        strides(&self.shape, self.by_column)
    }

    /// All numbers in row-major order; with `by_column`, in column-major order.
    fn numbers(&self, by_column: bool) -> Vec<Number> {
        let mut out = Vec::with_capacity(self.elements.len());
        for at in places(&self.shape, &self.strides(), by_column) {
            self.elements.numbers(at, &mut out);
        }
        out
    }
}

/// For each dimension, the distance between elements whose indices differ by one.
pub(crate) fn strides(shape: &[usize], by_column: bool) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    let mut step = 1_usize;
    for n in 0..strides.len() {
        let n = if by_column { n } else { strides.len() - 1 - n };
        strides[n] = step;
        // For an empty array, the product has no meaning and may overflow.
        step = step.wrapping_mul(shape[n]);
    }
    strides
}

/// The positions of the elements of a column-major array, listed in row-major order.
pub fn row_by_row(shape: &[usize]) -> Vec<usize> {
    places(shape, &strides(shape, true), false)
}

/// The positions of an array's elements, listed in row-major order; with `by_column`, in column-major order.
pub(crate) fn places(shape: &[usize], strides: &[usize], by_column: bool) -> Vec<usize> {
    if shape.contains(&0) {
        return Vec::new();
    }
    let mut out = vec![0];
    let mut dimensions: Vec<(&usize, &usize)> = shape.iter().zip(strides).collect();
    if by_column {
        dimensions.reverse();
    }
    // The first of these dimensions varies slowest.
    for (len, stride) in dimensions {
        out = out.iter().flat_map(|at| (0..*len).map(move |n| at + n * stride)).collect();
    }
    out
}

/// Why a file is not an array of numbers.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ArrayError {
    /// The file.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// The limit that was exceeded, if that is the error.
    pub exceeded: Option<Box<Exceeded>>,
}

/// Reads a `.csv` or `.npy` file, as its extension says; the elements are in row-major order. If the file holds more
/// than `most` numbers, only `most` + 1 of them are read.
///
/// A complex number gives two numbers.
///
/// Errors: the file cannot be read, the extension is another one, a cell is empty, or the element type is not a number.
pub fn read(path: &str, most: usize) -> Result<Vec<Number>, ArrayError> {
    Ok(table(path, most)?.numbers(false))
}

/// Reads a file completely, and returns the lengths of its dimensions and the elements in column-major order.
/// Comma-separated values with several rows and columns are a matrix; a single row or column is a vector.
///
/// Errors: those of [`read`], more than 2^27 numbers, rows of different lengths, or more than three dimensions.
pub fn read_shaped(path: &str) -> Result<(Vec<usize>, Vec<Number>), ArrayError> {
    let table = table(path, MOST)?;
    let fail = |message: &str| Err(ArrayError::new(path, message));
    if table.elements.len() > MOST {
        let exceeded = Exceeded::new(Resource::Nodes, MOST as u64, "the array").of("number");
        return Err(ArrayError::new(path, exceeded.instead("no machine has more words: give it in parts")));
    }
    if table.ragged {
        return fail("its rows have different lengths; a matrix has as many numbers in each");
    }
    if table.shape.len() > 3 {
        return fail("it has more than three dimensions");
    }
    let numbers = table.numbers(true);
    Ok((table.shape, numbers))
}

/// True if a file is in NumPy's format, false if it holds comma-separated values.
pub(crate) fn is_npy(path: &str) -> Result<bool, ArrayError> {
    let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    match extension.as_str() {
        "csv" | "txt" => Ok(false),
        "npy" => Ok(true),
        _ => Err(ArrayError::new(path, "array files end in `.csv` or `.npy`")),
    }
}

/// Reads a file in its own order. If it holds more than `most` numbers, reads only enough of it to see that.
fn table(path: &str, most: usize) -> Result<Table, ArrayError> {
    let fail = |message: String| ArrayError::new(path, message);
    let npy = is_npy(path)?;
    let file = std::fs::File::open(path).map_err(|e| fail(unreadable(&e)))?;
    let input = std::io::BufReader::new(file);
    if npy {
        npy_numbers(input, most).map_err(fail)
    } else {
        csv_numbers(input, most).map_err(|e| ArrayError::new(path, e))
    }
}

fn unreadable(e: &std::io::Error) -> String {
    format!("cannot be read: {e}")
}

fn csv_numbers(input: impl BufRead, most: usize) -> Result<Table, ReadError> {
    let mut rows = Rows::new(input).within(ROW.saturating_add(most.saturating_mul(CELL)), LIMIT);
    let (mut out, mut row) = (Texts::default(), Texts::default());
    let (mut columns, mut count, mut ragged) = (None, 0, false);
    while out.len() <= most && rows.next(&mut row)?.is_some() {
        count += 1;
        ragged |= *columns.get_or_insert(row.len()) != row.len();
        out.append(&row);
    }
    if out.len() > most {
        // From here on, the shape is meaningless.
        (ragged, columns) = (true, None);
        out.truncate(most + 1);
    }
    let matrix = !ragged && count > 1 && columns.is_some_and(|n| n > 1);
    let shape = if matrix { vec![count, out.len() / count] } else { vec![out.len()] };
    Ok(Table { shape, elements: Elements::Text(out), by_column: false, ragged })
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use npyz::WriterBuilder;

    #[test]
    fn csv_cells_are_read_row_by_row() {
        let text = |t: &str| Number::Text(t.to_string());
        let table = csv_numbers(&b"1, 2.5\n# no data\n-3\n"[..], 9).unwrap();
        assert_eq!(table.numbers(false), [text("1"), text("2.5"), text("-3")]);
        assert!(table.ragged);
        let (one, matrix) = (csv_numbers(&b"1\n2\n"[..], 9).unwrap(), csv_numbers(&b"1,2\n3,4\n"[..], 9).unwrap());
        assert_eq!((one.shape, one.ragged, matrix.shape, matrix.ragged), (vec![2], false, vec![2, 2], false));
        assert!(csv_numbers(&b"# none\n1,,2\n"[..], 9).unwrap_err().to_string().contains("line 2, cell 2"));
    }

    #[test]
    fn no_more_is_read_than_is_wanted() {
        // The second part is not valid text and must not be read.
        let input = |text: &'static [u8]| std::io::BufReader::new(text.chain(&b"\xff\n"[..]));
        assert_eq!(csv_numbers(input(b"1\n2\n3\n4\n"), 3).unwrap().elements.len(), 4);
        assert!(csv_numbers(input(b"1\n2\n3\n4\n"), 4).is_err());
        // A single row without end.
        let row = std::io::BufReader::new(std::io::repeat(b'1'));
        assert!(csv_numbers(row, 3).unwrap_err().to_string().contains("line 1 is larger than"));
        let row = std::io::BufReader::new(std::io::repeat(b'#'));
        assert!(csv_numbers(row, 3).unwrap_err().to_string().contains("line 1 is larger than"));
    }

    #[test]
    fn complex_numbers_are_two() {
        let z = |re: f64, im: f64| npyz::num_complex::Complex::new(re, im);
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(&[2]);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        writer.extend([z(1.0, 2.5), z(-3.0, 0.0)]).unwrap();
        writer.finish().unwrap();
        let table = npy_numbers(&bytes[..], 9).unwrap();
        assert_eq!(table.shape, [2]);
        assert_eq!(table.numbers(false), [1.0, 2.5, -3.0, 0.0].map(Number::Float));
    }

    #[test]
    fn npy_arrays_come_in_row_major_order() {
        for order in [npyz::Order::C, npyz::Order::Fortran] {
            let mut bytes = Vec::new();
            let options = npyz::WriteOptions::new().default_dtype().shape(&[2, 3]).order(order);
            let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
            // The rows are (0, 1, 2) and (3, 4, 5).
            let stored: [i32; 6] = if order == npyz::Order::C { [0, 1, 2, 3, 4, 5] } else { [0, 3, 1, 4, 2, 5] };
            writer.extend(stored).unwrap();
            writer.finish().unwrap();
            let table = npy_numbers(&bytes[..], 9).unwrap();
            assert_eq!(table.shape, [2, 3]);
            assert_eq!(table.numbers(false), [0, 1, 2, 3, 4, 5].map(Number::Int));
            assert_eq!(table.numbers(true), [0, 3, 1, 4, 2, 5].map(Number::Int));
            // Excess numbers are not read: the file may end after the expected numbers and one more.
            let cut = bytes.len() - 4 * 2;
            assert_eq!(npy_numbers(&bytes[..cut], 3).unwrap().elements.len(), 4);
            assert!(npy_numbers(&bytes[..cut], 6).unwrap_err().contains("shorter"));
        }
        assert!(npy_numbers(&b"not numpy"[..], 9).is_err());
        // A header that takes exponential time to parse, and one that claims four gigabytes.
        let nested = [b"\x93NUMPY\x01\x00\x40\x00".as_slice(), &[b'{'; 64]].concat();
        assert!(npy_numbers(&nested[..], 9).unwrap_err().contains("too complicated"));
        assert!(
            npy_numbers(&b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..], 9).unwrap_err().contains("ends within its header")
        );
    }
}
