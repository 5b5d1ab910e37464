//! NumPy's `.npy` files: reading them within limits, and writing them part by part.

use std::io::{Read, Write as _};

use super::{ArrayError, Elements, Table, unreadable};
use crate::files::Output;

/// The largest `.npy` header: NumPy's are of some hundred bytes.
const HEADER: usize = 1 << 14;

/// Reads a file as it stands, or as much of it as is needed to see that it holds more than `most` numbers.
pub(super) fn npy_numbers(mut input: impl Read, most: usize) -> Result<Table, String> {
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
