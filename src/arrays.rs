//! Arrays from files: comma-separated values and NumPy's `.npy`.

use std::io::Read;
use std::path::Path;

/// The largest array file that is read, in bytes: 2^27 words of eight bytes, and room for a header.
const LIMIT: u64 = (1 << 30) + (1 << 16);

/// The largest `.npy` header: NumPy's are of some hundred bytes.
const HEADER: usize = 1 << 14;

/// A number as a file holds it, before it becomes a word of some type.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// Text, to be read exactly.
    Text(String),
    /// An integer.
    Int(i128),
    /// A double.
    Float(f64),
}

/// What a file holds.
#[derive(Debug, PartialEq)]
pub(crate) struct Table {
    /// The lengths of the dimensions; of text a matrix's, or how many numbers there are.
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Elements,
    /// Whether elements stand column by column, not row by row.
    pub(crate) by_column: bool,
    /// Of text: the line of each row.
    pub(crate) lines: Vec<u64>,
    /// Whether rows have different lengths.
    pub(crate) ragged: bool,
}

/// A file's elements, in its order.
#[derive(Debug, PartialEq)]
pub(crate) enum Elements {
    Text(Vec<String>),
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

    /// Appends the numbers of an element: one, or the real and the imaginary part.
    pub(crate) fn numbers(&self, at: usize, out: &mut Vec<Number>) {
        match self {
            Elements::Text(v) => out.extend(v.get(at).map(|t| Number::Text(t.clone()))),
            Elements::Int(v) => out.extend(v.get(at).map(|k| Number::Int((*k).into()))),
            Elements::Uint(v) => out.extend(v.get(at).map(|k| Number::Int((*k).into()))),
            Elements::Float(v) => out.extend(v.get(at).map(|x| Number::Float(*x))),
            Elements::Complex(v) => out.extend(v.get(at).into_iter().flatten().map(|x| Number::Float(*x))),
        }
    }
}

impl Table {
    /// How far apart elements are whose indices differ by one, for each dimension.
    pub(crate) fn strides(&self) -> Vec<usize> {
        strides(&self.shape, self.by_column)
    }

    /// All numbers, with the last index running fastest, or `by_column` the first.
    fn numbers(&self, by_column: bool) -> Vec<Number> {
        let mut out = Vec::with_capacity(self.elements.len());
        for at in places(&self.shape, &self.strides(), by_column) {
            self.elements.numbers(at, &mut out);
        }
        out
    }
}

/// How far apart elements are whose indices differ by one.
fn strides(shape: &[usize], by_column: bool) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    let mut step = 1_usize;
    for n in 0..strides.len() {
        let n = if by_column { n } else { strides.len() - 1 - n };
        strides[n] = step;
        // Of an empty array the product may be anything.
        step = step.wrapping_mul(shape[n]);
    }
    strides
}

/// Where the elements of an array that lies column by column are, in row-major order.
pub fn row_by_row(shape: &[usize]) -> Vec<usize> {
    places(shape, &strides(shape, true), false)
}

/// Where the elements of an array lie, with the last index running fastest, or `by_column` the first.
pub(crate) fn places(shape: &[usize], strides: &[usize], by_column: bool) -> Vec<usize> {
    if shape.contains(&0) {
        return Vec::new();
    }
    let mut out = vec![0];
    let mut dimensions: Vec<(&usize, &usize)> = shape.iter().zip(strides).collect();
    if by_column {
        dimensions.reverse();
    }
    // The first of these runs slowest.
    for (len, stride) in dimensions {
        out = out.iter().flat_map(|at| (0..*len).map(move |n| at + n * stride)).collect();
    }
    out
}

/// Why a file is no array of numbers.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ArrayError {
    /// The file.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

/// Reads a `.csv` or `.npy` file, told by the extension; elements in row-major order.
///
/// Complex numbers are two numbers each.
///
/// Errors: a file that cannot be read, an extension that is neither, a cell that is empty, an element type that is no number.
pub fn read(path: &str) -> Result<Vec<Number>, ArrayError> {
    Ok(table(path)?.numbers(false))
}

/// Reads a file like [`read`]: the lengths of its dimensions, and the elements in column-major order. A file of several rows and columns of
/// comma-separated values is a matrix, one of a single row or column a vector.
///
/// Errors: those of [`read`], rows of different lengths, more than three dimensions.
pub fn read_shaped(path: &str) -> Result<(Vec<usize>, Vec<Number>), ArrayError> {
    let table = table(path)?;
    let fail = |message: &str| Err(ArrayError { path: path.to_string(), message: message.to_string() });
    if table.ragged {
        return fail("its rows have different lengths; a matrix has as many numbers in each");
    }
    if table.shape.len() > 3 {
        return fail("it has more than three dimensions");
    }
    let numbers = table.numbers(true);
    Ok((table.shape, numbers))
}

/// Reads a file as it stands.
pub(crate) fn table(path: &str) -> Result<Table, ArrayError> {
    let fail = |message: String| ArrayError { path: path.to_string(), message };
    let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    let numbers = match extension.as_str() {
        "csv" | "txt" => csv_numbers,
        "npy" => npy_numbers,
        _ => return Err(fail("array files end in `.csv` or `.npy`".to_string())),
    };
    let unreadable = |e: std::io::Error| fail(format!("cannot be read: {e}"));
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(unreadable)?.take(LIMIT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LIMIT {
        return Err(fail(format!("larger than {LIMIT} bytes")));
    }
    numbers(&bytes).map_err(fail)
}

/// The line of a record: comments before it are the reader's part of it.
fn line_of(bytes: &[u8], at: &csv::Position) -> u64 {
    let rest = usize::try_from(at.byte()).ok().and_then(|n| bytes.get(n..)).unwrap_or_default();
    let passed = |line: &&[u8]| line.first() == Some(&b'#') || line.iter().all(u8::is_ascii_whitespace);
    at.line() + rest.split(|b| *b == b'\n').take_while(passed).count() as u64
}

fn csv_numbers(bytes: &[u8]) -> Result<Table, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(bytes);
    let (mut out, mut lines) = (Vec::new(), Vec::new());
    let (mut columns, mut ragged) = (None, false);
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let line = record.position().map_or(0, |at| line_of(bytes, at));
        for (column, cell) in record.iter().enumerate() {
            if cell.is_empty() {
                return Err(format!("line {line}, cell {}: empty", column + 1));
            }
            out.push(cell.to_string());
        }
        lines.push(line);
        ragged |= *columns.get_or_insert(record.len()) != record.len();
    }
    let rows = lines.len();
    let matrix = !ragged && rows > 1 && columns.is_some_and(|n| n > 1);
    let shape = if matrix { vec![rows, out.len() / rows] } else { vec![out.len()] };
    Ok(Table { shape, elements: Elements::Text(out), by_column: false, lines, ragged })
}

fn npy_numbers(bytes: &[u8]) -> Result<Table, String> {
    check_npy_header(bytes)?;
    let file = npyz::NpyFile::new(bytes).map_err(|e| format!("not a .npy file: {e}"))?;
    let by_column = file.order() == npyz::Order::Fortran;
    let npyz::DType::Plain(dtype) = file.dtype() else {
        return Err("structured arrays cannot be read; save one field".to_string());
    };
    let wanted = file.shape().iter().try_fold(1u64, |n, &d| n.checked_mul(d)).ok_or("the shape overflows")?;
    if wanted.saturating_mul(dtype.size_field()) > bytes.len() as u64 * 8 {
        return Err("the file is shorter than its shape says".to_string());
    }
    // An empty array may have any other lengths.
    let shape = file.shape().iter().map(|n| usize::try_from(*n)).collect::<Result<Vec<usize>, _>>();
    let shape = shape.map_err(|_| "the shape overflows")?;
    macro_rules! elements {
        ($Kind:ident, $T:ty, $wrap:expr) => {
            Elements::$Kind(file.into_vec::<$T>().map_err(|e| e.to_string())?.into_iter().map($wrap).collect())
        };
    }
    use npyz::TypeChar::{Bool, Complex, Float, Int, Uint};
    use npyz::num_complex::Complex as Z;
    let elements = match (dtype.type_char(), dtype.size_field()) {
        (Bool, _) => elements!(Int, bool, i64::from),
        (Int, 1) => elements!(Int, i8, i64::from),
        (Int, 2) => elements!(Int, i16, i64::from),
        (Int, 4) => elements!(Int, i32, i64::from),
        (Int, 8) => elements!(Int, i64, |k| k),
        (Uint, 1) => elements!(Int, u8, i64::from),
        (Uint, 2) => elements!(Int, u16, i64::from),
        (Uint, 4) => elements!(Int, u32, i64::from),
        (Uint, 8) => elements!(Uint, u64, |k| k),
        (Float, 4) => elements!(Float, f32, f64::from),
        (Float, 8) => elements!(Float, f64, |x| x),
        (Complex, 8) => elements!(Complex, Z<f32>, |z| [z.re, z.im].map(f64::from)),
        (Complex, 16) => elements!(Complex, Z<f64>, |z| [z.re, z.im]),
        _ => {
            let help = "use integers, or floats of 32 or 64 bits, or complex numbers of these";
            return Err(format!("elements of type {dtype} cannot be read; {help}"));
        }
    };
    Ok(Table { shape, elements, by_column, lines: Vec::new(), ragged: false })
}

/// Refuses headers that the reader should not be given: it believes their length, and takes exponential time over
/// brackets within brackets.
fn check_npy_header(bytes: &[u8]) -> Result<(), String> {
    let header = match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, a, b, rest @ ..] => {
            rest.get(..usize::from(u16::from_le_bytes([*a, *b])))
        }
        [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _, a, b, c, d, rest @ ..] => {
            usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).ok().and_then(|n| rest.get(..n))
        }
        _ => return Err("not a .npy file".to_string()),
    };
    let header = header.ok_or("not a .npy file: it ends within its header")?;
    let brackets = header.iter().filter(|b| matches!(b, b'{' | b'[' | b'(')).count();
    if header.len() > HEADER || brackets > 4 {
        return Err("not a .npy file of plain numbers: its header is too complicated".to_string());
    }
    Ok(())
}

/// Words of a result, or what they mean, to be written to a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Integers.
    Int(Vec<i64>),
    /// Words as they are.
    Raw(Vec<u64>),
    /// Doubles.
    Float(Vec<f64>),
    /// Complex numbers: real and imaginary part.
    Complex(Vec<[f64; 2]>),
}

/// Writes a `.npy` file of an array in row-major order.
///
/// Errors: a file that cannot be written, or that wants another number of elements than there are.
pub fn write_npy(path: &str, shape: &[usize], column: &Column) -> Result<(), ArrayError> {
    let fail = |e: std::io::Error| ArrayError { path: path.to_string(), message: format!("cannot be written: {e}") };
    let shape: Vec<u64> = shape.iter().map(|n| *n as u64).collect();
    let file = std::io::BufWriter::new(std::fs::File::create(path).map_err(fail)?);
    match column {
        Column::Int(v) => write_elements(file, &shape, v.iter().copied()),
        Column::Raw(v) => write_elements(file, &shape, v.iter().copied()),
        Column::Float(v) => write_elements(file, &shape, v.iter().copied()),
        Column::Complex(v) => {
            write_elements(file, &shape, v.iter().map(|[re, im]| npyz::num_complex::Complex::new(*re, *im)))
        }
    }
    .map_err(fail)
}

fn write_elements<T: npyz::AutoSerialize>(
    file: impl std::io::Write,
    shape: &[u64],
    elements: impl Iterator<Item = T>,
) -> std::io::Result<()> {
    use npyz::WriterBuilder;
    let mut file = file;
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(shape).writer(&mut file).begin_nd()?;
    writer.extend(elements)?;
    writer.finish()?;
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use npyz::WriterBuilder;

    #[test]
    fn csv_cells_are_read_row_by_row() {
        let text = |t: &str| Number::Text(t.to_string());
        let table = csv_numbers(b"1, 2.5\n# no data\n-3\n").unwrap();
        assert_eq!(table.numbers(false), [text("1"), text("2.5"), text("-3")]);
        assert_eq!(table.lines, [1, 3]);
        assert!(table.ragged);
        let (one, matrix) = (csv_numbers(b"1\n2\n").unwrap(), csv_numbers(b"1,2\n3,4\n").unwrap());
        assert_eq!((one.shape, one.ragged, matrix.shape, matrix.ragged), (vec![2], false, vec![2, 2], false));
        assert!(csv_numbers(b"1,,2\n").unwrap_err().contains("line 1, cell 2"));
    }

    #[test]
    fn complex_numbers_are_two() {
        let z = |re: f64, im: f64| npyz::num_complex::Complex::new(re, im);
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(&[2]);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        writer.extend([z(1.0, 2.5), z(-3.0, 0.0)]).unwrap();
        writer.finish().unwrap();
        let table = npy_numbers(&bytes).unwrap();
        assert_eq!(table.shape, [2]);
        assert_eq!(table.numbers(false), [1.0, 2.5, -3.0, 0.0].map(Number::Float));
    }

    #[test]
    fn npy_arrays_come_in_row_major_order() {
        for order in [npyz::Order::C, npyz::Order::Fortran] {
            let mut bytes = Vec::new();
            let options = npyz::WriteOptions::new().default_dtype().shape(&[2, 3]).order(order);
            let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
            // rows (0, 1, 2) and (3, 4, 5)
            let stored: [i32; 6] = if order == npyz::Order::C { [0, 1, 2, 3, 4, 5] } else { [0, 3, 1, 4, 2, 5] };
            writer.extend(stored).unwrap();
            writer.finish().unwrap();
            let table = npy_numbers(&bytes).unwrap();
            assert_eq!(table.shape, [2, 3]);
            assert_eq!(table.numbers(false), [0, 1, 2, 3, 4, 5].map(Number::Int));
            assert_eq!(table.numbers(true), [0, 3, 1, 4, 2, 5].map(Number::Int));
        }
        assert!(npy_numbers(b"not numpy").is_err());
        // A header that would be parsed for ever, and one that claims four gigabytes.
        let nested = [b"\x93NUMPY\x01\x00\x40\x00".as_slice(), &[b'{'; 64]].concat();
        assert!(npy_numbers(&nested).unwrap_err().contains("too complicated"));
        assert!(npy_numbers(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").unwrap_err().contains("ends within its header"));
    }
}
