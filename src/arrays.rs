//! Arrays from files: comma-separated values and NumPy's `.npy`.

use std::io::{BufRead, Read, Write as _};
use std::path::Path;

mod rows;
mod trouble;

pub(crate) use rows::Rows;
pub(crate) use trouble::Trouble;

use pendula_compiler::nil::sema as argument;
use pendula_isa::budget::{Exceeded, Resource};

use crate::files::Output;

/// The most bytes of an array file that are read at once: 2^27 words of eight bytes, and room for a header.
pub(crate) const LIMIT: u64 = (1 << 30) + (1 << 16);

/// The most numbers of a file that are read at once: as many words as a machine has at most.
pub(crate) const MOST: usize = 1 << 27;

/// The most bytes of a row of comma-separated values: so many, and so many for each number that is wanted. The longest number without
/// needless digits, a subnormal double, has 1080 bytes.
const ROW: usize = 1 << 16;
const CELL: usize = 1 << 11;

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
    /// The lengths of the dimensions; of text a matrix's, or how many numbers there are.
    pub(crate) shape: Vec<usize>,
    pub(crate) elements: Elements,
    /// Whether elements stand column by column, not row by row.
    pub(crate) by_column: bool,
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
pub(crate) fn strides(shape: &[usize], by_column: bool) -> Vec<usize> {
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
    /// What is more than is read, if that is what is wrong.
    pub exceeded: Option<Box<Exceeded>>,
}

/// Reads a `.csv` or `.npy` file, told by the extension; elements in row-major order. Of a file that holds more than `most` numbers, one more
/// than `most` of its numbers are read, and not the rest.
///
/// Complex numbers are two numbers each.
///
/// Errors: a file that cannot be read, an extension that is neither, a cell that is empty, an element type that is no number.
pub fn read(path: &str, most: usize) -> Result<Vec<Number>, ArrayError> {
    Ok(table(path, most)?.numbers(false))
}

/// Reads a file like [`read`], but whole: the lengths of its dimensions, and the elements in column-major order. A file of several rows and columns of
/// comma-separated values is a matrix, one of a single row or column a vector.
///
/// Errors: those of [`read`], more than 2^27 numbers, rows of different lengths, more than three dimensions.
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

/// Whether a file is in NumPy's form; else it is comma-separated values.
pub(crate) fn is_npy(path: &str) -> Result<bool, ArrayError> {
    let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    match extension.as_str() {
        "csv" | "txt" => Ok(false),
        "npy" => Ok(true),
        _ => Err(ArrayError::new(path, "array files end in `.csv` or `.npy`")),
    }
}

/// Reads a file as it stands, or as much of it as is needed to see that it holds more than `most` numbers.
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

fn csv_numbers(input: impl BufRead, most: usize) -> Result<Table, Trouble> {
    let mut rows = Rows::new(input).within(ROW.saturating_add(most.saturating_mul(CELL)), LIMIT);
    let (mut out, mut row) = (Vec::new(), Vec::new());
    let (mut columns, mut count, mut ragged) = (None, 0, false);
    while out.len() <= most && rows.next(&mut row)?.is_some() {
        count += 1;
        ragged |= *columns.get_or_insert(row.len()) != row.len();
        out.append(&mut row);
    }
    if out.len() > most {
        // The shape is of no use any more.
        (ragged, columns) = (true, None);
        out.truncate(most + 1);
    }
    let matrix = !ragged && count > 1 && columns.is_some_and(|n| n > 1);
    let shape = if matrix { vec![count, out.len() / count] } else { vec![out.len()] };
    Ok(Table { shape, elements: Elements::Text(out), by_column: false, ragged })
}

fn npy_numbers(mut input: impl Read, most: usize) -> Result<Table, String> {
    let mut bytes = Vec::new();
    (&mut input).take(NpyHead::BYTES as u64).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
    // How long the file is shows when it has been read.
    let mut head = NpyHead::read(&bytes, u64::MAX)?;
    let count = head.shape.iter().product::<usize>();
    if count.saturating_mul(head.parts()) > most {
        (head.shape, head.by_column) = (vec![count.min(most + 1)], false);
    }
    let count: usize = head.shape.iter().product();
    let mut data = bytes.split_off(usize::try_from(head.data).map_or(bytes.len(), |at| at.min(bytes.len())));
    let wanted = count as u64 * head.size as u64;
    let missing = wanted.saturating_sub(data.len() as u64);
    input.take(missing).read_to_end(&mut data).map_err(|e| unreadable(&e))?;
    if (data.len() as u64) < wanted {
        return Err("the file is shorter than its shape says".to_string());
    }
    let elements = head.decode(&data, count)?;
    Ok(Table { shape: head.shape, elements, by_column: head.by_column, ragged: false })
}

/// What stands at the beginning of a `.npy` file.
#[derive(Debug)]
pub(crate) struct NpyHead {
    header: Header,
    /// The lengths of the dimensions; their product is no more than the file has elements.
    pub(crate) shape: Vec<usize>,
    /// Whether elements stand column by column, not row by row.
    pub(crate) by_column: bool,
    /// Bytes of an element.
    pub(crate) size: usize,
    /// Where the elements begin in the file.
    pub(crate) data: u64,
}

/// A header, which is of no use in messages.
struct Header(npyz::NpyHeader);

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Header")
    }
}

impl NpyHead {
    /// How many bytes of a file are enough to read its header, if it can be read at all.
    pub(crate) const BYTES: usize = HEADER + 64;

    /// Reads the header, with which `bytes` begin, of a file of such a length.
    pub(crate) fn read(bytes: &[u8], length: u64) -> Result<NpyHead, String> {
        check_npy_header(bytes)?;
        let mut rest = bytes;
        let header = npyz::NpyHeader::from_reader(&mut rest).map_err(|e| format!("not a .npy file: {e}"))?;
        let data = (bytes.len() - rest.len()) as u64;
        let npyz::DType::Plain(dtype) = header.dtype() else {
            return Err("structured arrays cannot be read; save one field".to_string());
        };
        let wanted = header.shape().iter().try_fold(1u64, |n, &d| n.checked_mul(d)).ok_or("the shape overflows")?;
        let size = dtype.size_field();
        let size = if dtype.type_char() == npyz::TypeChar::Bool { 1 } else { size };
        if wanted.saturating_mul(size) > length.saturating_sub(data) {
            return Err("the file is shorter than its shape says".to_string());
        }
        // An empty array may have any other lengths.
        let shape = header.shape().iter().map(|n| usize::try_from(*n)).collect::<Result<Vec<usize>, _>>();
        let shape = shape.map_err(|_| "the shape overflows")?;
        let by_column = header.order() == npyz::Order::Fortran;
        let head = NpyHead { header: Header(header), shape, by_column, size: size as usize, data };
        // What cannot be read is said at once.
        head.decode(&[], 0)?;
        Ok(head)
    }

    /// How many numbers an element is: one, or the real and the imaginary part.
    fn parts(&self) -> usize {
        match self.header.0.dtype() {
            npyz::DType::Plain(dtype) if dtype.type_char() == npyz::TypeChar::Complex => 2,
            _ => 1,
        }
    }

    /// The first elements of these bytes.
    pub(crate) fn decode(&self, bytes: &[u8], count: usize) -> Result<Elements, String> {
        use npyz::TypeChar::{Bool, Complex, Float, Int, Uint};
        use npyz::num_complex::Complex as Z;
        let npyz::DType::Plain(dtype) = self.header.0.dtype() else {
            return Err("structured arrays cannot be read; save one field".to_string());
        };
        let file = npyz::NpyFile::with_header(self.header.0.clone(), bytes);
        macro_rules! elements {
            ($Kind:ident, $T:ty, $wrap:expr) => {{
                let all = file.data::<$T>().map_err(|e| e.to_string())?.take(count);
                Elements::$Kind(all.map(|x| x.map($wrap)).collect::<Result<_, _>>().map_err(|e| e.to_string())?)
            }};
        }
        Ok(match (dtype.type_char(), dtype.size_field()) {
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
        })
    }
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

/// A `.npy` file of an array in row-major order that is written part by part.
pub struct NpyOutput {
    path: String,
    file: Output,
    /// How many elements are still to come.
    left: u64,
}

impl NpyOutput {
    /// Begins a file for elements of the kind that this column has; the file gets its name when it is finished.
    ///
    /// Errors: a file that cannot be written.
    pub fn create(path: &str, shape: &[usize], kind: &Column) -> Result<NpyOutput, ArrayError> {
        use npyz::{AutoSerialize as _, WriterBuilder as _};
        let fail = |e: std::io::Error| unwritten(path, &e.to_string());
        let shape: Vec<u64> = shape.iter().map(|n| *n as u64).collect();
        let left = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
        let left = left.ok_or_else(|| unwritten(path, "the shape overflows"))?;
        let mut file = Output::create(path).map_err(fail)?;
        let dtype = match kind {
            Column::Int(_) => i64::default_dtype(),
            Column::Raw(_) => u64::default_dtype(),
            Column::Float(_) => f64::default_dtype(),
            Column::Complex(_) => npyz::num_complex::Complex::<f64>::default_dtype(),
        };
        let options = npyz::WriteOptions::new_header_only().dtype(dtype).shape(&shape);
        options.writer(&mut file).write_header_only().map_err(fail)?;
        Ok(NpyOutput { path: path.to_string(), file, left })
    }

    /// Writes the next elements.
    ///
    /// Errors: a file that cannot be written, more elements than the shape has.
    pub fn push(&mut self, column: &Column) -> Result<(), ArrayError> {
        let count = match column {
            Column::Int(v) => v.len(),
            Column::Raw(v) => v.len(),
            Column::Float(v) => v.len(),
            Column::Complex(v) => v.len(),
        };
        let left = self.left.checked_sub(count as u64);
        self.left = left.ok_or_else(|| unwritten(&self.path, "there are more elements than its shape says"))?;
        let file = &mut self.file;
        // In the order of bytes that the element types written in the header have.
        let written = match column {
            Column::Int(v) => v.iter().try_for_each(|x| file.write_all(&x.to_ne_bytes())),
            Column::Raw(v) => v.iter().try_for_each(|x| file.write_all(&x.to_ne_bytes())),
            Column::Float(v) => v.iter().try_for_each(|x| file.write_all(&x.to_ne_bytes())),
            Column::Complex(v) => v.iter().flatten().try_for_each(|x| file.write_all(&x.to_ne_bytes())),
        };
        written.map_err(|e| unwritten(&self.path, &e.to_string()))
    }

    /// Ends the file, and gives it its name.
    ///
    /// Errors: a file that cannot be written, fewer elements than the shape has.
    pub fn finish(self) -> Result<(), ArrayError> {
        if self.left > 0 {
            return Err(unwritten(&self.path, "there are fewer elements than its shape says"));
        }
        self.file.finish().map_err(|e| unwritten(&self.path, &e.to_string()))
    }
}

fn unwritten(path: &str, why: &str) -> ArrayError {
    ArrayError::new(path, format!("cannot be written: {why}"))
}

/// Writes a `.npy` file of an array in row-major order.
///
/// Errors: a file that cannot be written, or that wants another number of elements than there are.
pub fn write_npy(path: &str, shape: &[usize], column: &Column) -> Result<(), ArrayError> {
    let mut file = NpyOutput::create(path, shape, column)?;
    file.push(column)?;
    file.finish()
}

#[cfg(test)]
mod tests {
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
        // The second part is no text that could be read.
        let input = |text: &'static [u8]| std::io::BufReader::new(text.chain(&b"\xff\n"[..]));
        assert_eq!(csv_numbers(input(b"1\n2\n3\n4\n"), 3).unwrap().elements.len(), 4);
        assert!(csv_numbers(input(b"1\n2\n3\n4\n"), 4).is_err());
        // One row without end.
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
            // rows (0, 1, 2) and (3, 4, 5)
            let stored: [i32; 6] = if order == npyz::Order::C { [0, 1, 2, 3, 4, 5] } else { [0, 3, 1, 4, 2, 5] };
            writer.extend(stored).unwrap();
            writer.finish().unwrap();
            let table = npy_numbers(&bytes[..], 9).unwrap();
            assert_eq!(table.shape, [2, 3]);
            assert_eq!(table.numbers(false), [0, 1, 2, 3, 4, 5].map(Number::Int));
            assert_eq!(table.numbers(true), [0, 3, 1, 4, 2, 5].map(Number::Int));
            // What is too long is not read: the file may end after the numbers that are wanted and one more.
            let cut = bytes.len() - 4 * 2;
            assert_eq!(npy_numbers(&bytes[..cut], 3).unwrap().elements.len(), 4);
            assert!(npy_numbers(&bytes[..cut], 6).unwrap_err().contains("shorter"));
        }
        assert!(npy_numbers(&b"not numpy"[..], 9).is_err());
        // A header that would be parsed for ever, and one that claims four gigabytes.
        let nested = [b"\x93NUMPY\x01\x00\x40\x00".as_slice(), &[b'{'; 64]].concat();
        assert!(npy_numbers(&nested[..], 9).unwrap_err().contains("too complicated"));
        assert!(
            npy_numbers(&b"\x93NUMPY\x02\x00\xff\xff\xff\xff"[..], 9).unwrap_err().contains("ends within its header")
        );
    }
}
