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

/// What a file holds, in row-major order.
#[derive(Debug, PartialEq)]
struct Table {
    /// The lengths of the dimensions.
    shape: Vec<u64>,
    /// Each element's numbers: one, or the real and the imaginary part.
    elements: Vec<Vec<Number>>,
    /// Whether rows have different lengths, so that the shape is only how many elements there are.
    ragged: bool,
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
    Ok(read_rows(path)?.elements.into_iter().flatten().collect())
}

/// Reads a file like [`read`]: the lengths of its dimensions, and the elements in column-major order. A file of several rows and columns of
/// comma-separated values is a matrix, one of a single row or column a vector.
///
/// Errors: those of [`read`], rows of different lengths, more than three dimensions.
pub fn read_shaped(path: &str) -> Result<(Vec<usize>, Vec<Number>), ArrayError> {
    let Table { shape, elements, ragged } = read_rows(path)?;
    let fail = |message: &str| Err(ArrayError { path: path.to_string(), message: message.to_string() });
    if ragged {
        return fail("its rows have different lengths; a matrix has as many numbers in each");
    }
    if shape.len() > 3 {
        return fail("it has more than three dimensions");
    }
    // Read the other way round, rows are columns.
    let reversed: Vec<u64> = shape.iter().rev().copied().collect();
    let elements = if shape.len() > 1 { to_row_major(elements, &reversed) } else { elements };
    Ok((shape.into_iter().map(|n| n as usize).collect(), elements.into_iter().flatten().collect()))
}

fn read_rows(path: &str) -> Result<Table, ArrayError> {
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

fn csv_numbers(bytes: &[u8]) -> Result<Table, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(bytes);
    let mut out = Vec::new();
    let (mut rows, mut columns, mut ragged) = (0, None, false);
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        for (column, cell) in record.iter().enumerate() {
            if cell.is_empty() {
                return Err(format!("line {line}, cell {}: empty", column + 1));
            }
            out.push(vec![Number::Text(cell.to_string())]);
        }
        rows += 1;
        ragged |= *columns.get_or_insert(record.len()) != record.len();
    }
    let matrix = !ragged && rows > 1 && columns.is_some_and(|n| n > 1);
    let shape = if matrix { vec![rows as u64, (out.len() / rows) as u64] } else { vec![out.len() as u64] };
    Ok(Table { shape, elements: out, ragged })
}

fn npy_numbers(bytes: &[u8]) -> Result<Table, String> {
    check_npy_header(bytes)?;
    let file = npyz::NpyFile::new(bytes).map_err(|e| format!("not a .npy file: {e}"))?;
    let (shape, order) = (file.shape().to_vec(), file.order());
    let npyz::DType::Plain(dtype) = file.dtype() else {
        return Err("structured arrays cannot be read; save one field".to_string());
    };
    let wanted: u64 = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).ok_or("the shape overflows")?;
    if wanted.saturating_mul(dtype.size_field()) > bytes.len() as u64 * 8 {
        return Err("the file is shorter than its shape says".to_string());
    }
    macro_rules! elements {
        ($T:ty, $wrap:expr) => {
            file.into_vec::<$T>().map_err(|e| e.to_string())?.into_iter().map(|x| vec![$wrap(x)]).collect()
        };
    }
    macro_rules! complex {
        ($T:ty) => {{
            let numbers = file.into_vec::<npyz::num_complex::Complex<$T>>().map_err(|e| e.to_string())?;
            numbers.into_iter().map(|z| [z.re, z.im].map(|x| Number::Float(f64::from(x))).to_vec()).collect()
        }};
    }
    use npyz::TypeChar::{Bool, Complex, Float, Int, Uint};
    let flat: Vec<Vec<Number>> = match (dtype.type_char(), dtype.size_field()) {
        (Bool, _) => elements!(bool, |x| Number::Int(i128::from(x))),
        (Int, 1) => elements!(i8, |x| Number::Int(i128::from(x))),
        (Int, 2) => elements!(i16, |x| Number::Int(i128::from(x))),
        (Int, 4) => elements!(i32, |x| Number::Int(i128::from(x))),
        (Int, 8) => elements!(i64, |x| Number::Int(i128::from(x))),
        (Uint, 1) => elements!(u8, |x| Number::Int(i128::from(x))),
        (Uint, 2) => elements!(u16, |x| Number::Int(i128::from(x))),
        (Uint, 4) => elements!(u32, |x| Number::Int(i128::from(x))),
        (Uint, 8) => elements!(u64, |x| Number::Int(i128::from(x))),
        (Float, 4) => elements!(f32, |x| Number::Float(f64::from(x))),
        (Float, 8) => elements!(f64, Number::Float),
        (Complex, 8) => complex!(f32),
        (Complex, 16) => complex!(f64),
        _ => {
            let help = "use integers, or floats of 32 or 64 bits, or complex numbers of these";
            return Err(format!("elements of type {dtype} cannot be read; {help}"));
        }
    };
    let flat = if order == npyz::Order::Fortran { to_row_major(flat, &shape) } else { flat };
    Ok(Table { shape, elements: flat, ragged: false })
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

/// Reorders a column-major array.
fn to_row_major(flat: Vec<Vec<Number>>, shape: &[u64]) -> Vec<Vec<Number>> {
    let mut index = vec![0u64; shape.len()];
    let mut out = Vec::with_capacity(flat.len());
    for _ in 0..flat.len() {
        let mut at = 0;
        for (i, n) in index.iter().zip(shape).rev() {
            at = at * n + i;
        }
        out.extend(flat.get(at as usize).cloned());
        for (i, n) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *n {
                break;
            }
            *i = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use npyz::WriterBuilder;

    #[test]
    fn csv_cells_are_read_row_by_row() {
        let text = |t: &str| Number::Text(t.to_string());
        let table = csv_numbers(b"1, 2.5\n# no data\n-3\n").unwrap();
        assert_eq!(table.elements.concat(), [text("1"), text("2.5"), text("-3")]);
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
        assert_eq!(table.elements.concat(), [1.0, 2.5, -3.0, 0.0].map(Number::Float));
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
            let elements: Vec<Vec<Number>> = (0..6).map(|n| vec![Number::Int(n)]).collect();
            assert_eq!(npy_numbers(&bytes).unwrap(), Table { shape: vec![2, 3], elements, ragged: false });
        }
        assert!(npy_numbers(b"not numpy").is_err());
        // A header that would be parsed for ever, and one that claims four gigabytes.
        let nested = [b"\x93NUMPY\x01\x00\x40\x00".as_slice(), &[b'{'; 64]].concat();
        assert!(npy_numbers(&nested).unwrap_err().contains("too complicated"));
        assert!(npy_numbers(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").unwrap_err().contains("ends within its header"));
    }
}
