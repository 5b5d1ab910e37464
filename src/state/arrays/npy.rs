//! NumPy's `.npy` files: reads them within limits, and writes them part by part.

use std::io::{Read, Write as _};

use super::{ArrayError, Elements, Table, unreadable};
use crate::files::Output;

/// The largest `.npy` header in bytes; NumPy's have some hundred bytes.
const HEADER: usize = 1 << 14;

/// Reads a file in its own order. If it holds more than `most` numbers, reads only enough of it to see that.
pub(super) fn npy_numbers(mut input: impl Read, most: usize) -> Result<Table, String> {
    let mut bytes = Vec::new();
    (&mut input).take(NpyHead::BYTES as u64).read_to_end(&mut bytes).map_err(|e| unreadable(&e))?;
    // The length of the file is not known before it has been read.
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

/// The header of a `.npy` file.
#[derive(Debug)]
pub(crate) struct NpyHead {
    header: Header,
    /// The lengths of the dimensions; their product does not exceed the number of elements in the file.
    pub(crate) shape: Vec<usize>,
    /// True if the elements are in column-major order, false if in row-major order.
    pub(crate) by_column: bool,
    /// The size of an element in bytes.
    pub(crate) size: usize,
    /// The offset of the first element in the file.
    pub(crate) data: u64,
}

/// A parsed header, which debug output leaves out.
struct Header(npyz::NpyHeader);

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Header")
    }
}

impl NpyHead {
    /// The number of bytes that always suffice to read a valid header.
    pub(crate) const BYTES: usize = HEADER + 64;

    /// Reads the header at the beginning of `bytes`; `length` is the length of the file.
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
        // The other lengths of an empty array may be anything.
        let shape = header.shape().iter().map(|n| usize::try_from(*n)).collect::<Result<Vec<usize>, _>>();
        let shape = shape.map_err(|_| "the shape overflows")?;
        let by_column = header.order() == npyz::Order::Fortran;
        let head = NpyHead { header: Header(header), shape, by_column, size: size as usize, data };
        // Element types that cannot be read are refused at once.
        head.decode(&[], 0)?;
        Ok(head)
    }

    /// The number of numbers in an element: one, or two for the real and the imaginary part.
    fn parts(&self) -> usize {
        match self.header.0.dtype() {
            npyz::DType::Plain(dtype) if dtype.type_char() == npyz::TypeChar::Complex => 2,
            _ => 1,
        }
    }

    /// Decodes the first `count` elements of these bytes.
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

/// Refuses headers that the parser cannot handle safely: it trusts their length, and takes exponential time for nested
/// brackets.
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

/// The elements of a `.npy` file: words of a result, or the numbers that they stand for.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Integers.
    Int(Vec<i64>),
    /// Raw words.
    Raw(Vec<u64>),
    /// Doubles.
    Float(Vec<f64>),
    /// Complex numbers as real and imaginary part.
    Complex(Vec<[f64; 2]>),
}

/// A `.npy` file of a row-major array that is written part by part.
pub struct NpyOutput {
    path: String,
    file: Output,
    /// The number of elements still to be written.
    left: u64,
}

impl NpyOutput {
    /// Begins a file for elements of this column's type. The file gets its name when it is finished.
    ///
    /// Errors: the file cannot be written.
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
    /// Errors: the file cannot be written, or there are more elements than the shape has.
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
        // The byte order matches the element types in the header.
        let written = match column {
            Column::Int(v) => v.iter().try_for_each(|x| file.write_all(&x.to_ne_bytes())),
            Column::Raw(v) => v.iter().try_for_each(|x| file.write_all(&x.to_ne_bytes())),
            Column::Float(v) => v.iter().try_for_each(|x| file.write_all(&x.to_ne_bytes())),
            Column::Complex(v) => v.iter().flatten().try_for_each(|x| file.write_all(&x.to_ne_bytes())),
        };
        written.map_err(|e| unwritten(&self.path, &e.to_string()))
    }

    /// Completes the file and gives it its name.
    ///
    /// Errors: the file cannot be written, or there are fewer elements than the shape has.
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

/// Writes an array in row-major order to a `.npy` file.
///
/// Errors: the file cannot be written, or the number of elements does not match the shape.
pub fn write_npy(path: &str, shape: &[usize], column: &Column) -> Result<(), ArrayError> {
    let mut file = NpyOutput::create(path, shape, column)?;
    file.push(column)?;
    file.finish()
}
