//! The items of an array file, along its first axis: the inputs of the runs of a batch.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::ops::Range;

use pendula_compiler::nil::sema::{Argument, number_word};
use pendula_isa::Format;
use pendula_isa::budget::{Exceeded, Resource};
use pendula_isa::types::Ty;

use crate::state::arguments;
use crate::state::arrays::{
    self, ArrayError, Elements, LIMIT, NpyHead, Number, ReadError, Rows, Texts, places, strides,
};

/// An array file as a list of items. The file is read part by part, so it may have any length.
#[derive(Debug)]
pub struct Items {
    path: String,
    names: Option<Vec<String>>,
    count: usize,
    shape: Vec<usize>,
    source: RefCell<Source>,
}

/// The source of the elements.
#[derive(Debug)]
enum Source {
    Rows { rows: Rows<BufReader<File>>, next: usize },
    Npy { file: File, head: NpyHead },
}

impl Items {
    /// Opens a `.npy` file, whose first axis counts the items, or a `.csv` file with one item per row. In a file of one
    /// column an item is a number, else a list of numbers. A first row of names gives the columns their names. A source
    /// that cannot be read twice, such as a pipe, is copied.
    ///
    /// # Errors
    /// As [`arrays::read`], except that elements may be other than numbers; also, the file has no items, or its rows
    /// have different lengths.
    pub fn read(path: &str) -> Result<Items, ArrayError> {
        let npy = arrays::is_npy(path)?;
        let file = opened(path).map_err(|why| ArrayError::new(path, why))?;
        let items = if npy { Items::of_npy(path, file) } else { Items::of_rows(path, file) };
        items.map_err(|why| ArrayError::new(path, why))
    }

    fn of_npy(path: &str, mut file: File) -> Result<Items, ReadError> {
        let unreadable = |e: io::Error| format!("cannot be read: {e}");
        let length = file.metadata().map_err(unreadable)?.len();
        let mut bytes = Vec::new();
        (&mut file).take(NpyHead::BYTES as u64).read_to_end(&mut bytes).map_err(unreadable)?;
        let head = NpyHead::read(&bytes, length)?;
        let Some((&count, shape)) = head.shape.split_first() else {
            return Err("it contains a single number: the first axis of a batch counts its items".into());
        };
        let shape = shape.to_vec();
        Items::new(path, None, count, shape, Source::Npy { file, head })
    }

    /// Counts the rows, and checks that all have the same number of cells.
    fn of_rows(path: &str, file: File) -> Result<Items, ReadError> {
        let mut rows = Rows::new(BufReader::new(file));
        let (mut names, mut width, mut count) = (None, None, 0);
        let mut cells = Texts::default();
        while rows.next(&mut cells)?.is_some() {
            if *width.get_or_insert(cells.len()) != cells.len() {
                return Err("its rows have different lengths; all items need the same number of values".into());
            }
            if count == 0 && names.is_none() && cells.iter().all(is_name) {
                names = Some(cells.iter().map(str::to_string).collect());
            } else {
                count += 1;
            }
        }
        let shape = width.filter(|w| *w != 1).into_iter().collect();
        rows.rewind()?;
        let source = Source::Rows { rows, next: 0 };
        Items::new(path, names, count, shape, source)
    }

    fn new(
        path: &str,
        names: Option<Vec<String>>,
        count: usize,
        shape: Vec<usize>,
        source: Source,
    ) -> Result<Items, ReadError> {
        if count == 0 {
            return Err("it holds no items".into());
        }
        Ok(Items { path: path.to_string(), names, count, shape, source: RefCell::new(source) })
    }

    /// The path of the file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The number of items, at least one.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The lengths of an item's dimensions; empty if it is a number.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements of an item.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
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

    /// Reads some items. Reading the parts in their order is fastest.
    ///
    /// # Errors
    /// The file can no longer be read, or has changed.
    pub fn part(&self, items: Range<usize>) -> Result<Part, ArrayError> {
        let read = match &mut *self.source.borrow_mut() {
            Source::Rows { rows, next } => self.part_of_rows(rows, next, items),
            Source::Npy { file, head } => self.part_of_npy(file, head, items),
        };
        read.map_err(|why| ArrayError::new(&self.path, why))
    }

    fn part_of_rows(
        &self,
        rows: &mut Rows<BufReader<File>>,
        next: &mut usize,
        items: Range<usize>,
    ) -> Result<Part, ReadError> {
        let changed = || "it has changed while it was read".to_string();
        let mut cells = Texts::default();
        if items.start < *next || *next == 0 {
            rows.rewind()?;
            *next = 0;
            if self.names.is_some() {
                rows.next(&mut cells)?;
            }
        }
        while *next < items.start {
            rows.next(&mut cells)?.ok_or_else(changed)?;
            *next += 1;
        }
        let count = items.len() * self.elements();
        let (mut all, mut lines) = (Texts::with_capacity(count, 8 * count), Vec::with_capacity(items.len()));
        for _ in items.clone() {
            lines.push(rows.next(&mut cells)?.ok_or_else(changed)?);
            if cells.len() != self.elements() {
                return Err(changed().into());
            }
            all.append(&cells);
            *next += 1;
        }
        Ok(self.of_elements(items, Elements::Text(all), lines, false))
    }

    fn part_of_npy(&self, file: &mut File, head: &NpyHead, items: Range<usize>) -> Result<Part, ReadError> {
        let (per, size) = (self.elements(), head.size);
        let unreadable = |e: io::Error| format!("cannot be read: {e}");
        let count = items.len().checked_mul(per).ok_or("the shape overflows")?;
        let mut bytes = vec![0; count.checked_mul(size).ok_or("the shape overflows")?];
        let mut get = |element: u64, bytes: &mut [u8]| {
            file.seek(SeekFrom::Start(head.data + element * size as u64))?;
            file.read_exact(bytes)
        };
        if head.by_column {
            // In column-major order, the file groups values by the element's index: for each element of an item, the
            // values of all items are contiguous.
            let run = items.len() * size;
            for (n, bytes) in bytes.chunks_exact_mut(run.max(1)).enumerate() {
                get((n * self.count + items.start) as u64, bytes).map_err(unreadable)?;
            }
        } else {
            get((items.start * per) as u64, &mut bytes).map_err(unreadable)?;
        }
        Ok(self.of_elements(items, head.decode(&bytes, count)?, Vec::new(), head.by_column))
    }

    fn of_elements(&self, items: Range<usize>, elements: Elements, lines: Vec<u64>, by_column: bool) -> Part {
        let shape: Vec<usize> = std::iter::once(items.len()).chain(self.shape.iter().copied()).collect();
        let strides = strides(&shape, by_column);
        Part {
            path: self.path.clone(),
            first: items.start,
            rows: places(&self.shape, &strides[1..], false),
            columns: places(&self.shape, &strides[1..], true),
            shape: self.shape.clone(),
            stride: strides[0],
            elements,
            lines,
        }
    }

    /// The item that says most about the type of the items: the first one with a number that is not whole, if there is
    /// one.
    ///
    /// # Errors
    /// As [`Items::part`].
    pub fn telling(&self, column: Option<usize>) -> Result<usize, ArrayError> {
        // In such a file, all numbers are integers, or none is.
        if matches!(&*self.source.borrow(), Source::Npy { .. }) {
            return Ok(0);
        }
        let whole = |n| arguments::number(n).is_whole();
        let found = self.find(|part, item| !part.numbers(item, column).into_iter().all(whole))?;
        Ok(found.unwrap_or(0))
    }

    /// True if a column of doubles holds whole numbers only. They may be meant as integers beside columns that do not.
    ///
    /// # Errors
    /// As [`Items::part`].
    pub fn is_whole(&self, column: usize) -> Result<bool, ArrayError> {
        let whole = |part: &Part, item| match &part.numbers(item, Some(column))[..] {
            [Number::Float(x)] => x.fract() == 0.0 && x.abs() < 9.0e15,
            _ => false,
        };
        Ok(self.find(|part, item| !whole(part, item))?.is_none())
    }

    /// The first item that satisfies a condition.
    fn find(&self, is: impl Fn(&Part, usize) -> bool) -> Result<Option<usize>, ArrayError> {
        let most = (SEARCHED / self.elements().max(1)).max(1);
        let (mut begin, mut size) = (0, 1);
        while begin < self.count {
            let items = begin..self.count.min(begin + size);
            // It is mostly one of the first.
            (begin, size) = (items.end, most.min(4 * size));
            let part = self.part(items.clone())?;
            if let Some(item) = items.into_iter().find(|item| is(&part, *item)) {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }
}

/// The most elements that are searched at a time.
const SEARCHED: usize = 1 << 16;

/// Some of a file's items.
#[derive(Debug)]
pub struct Part {
    path: String,
    /// The number of the first item.
    first: usize,
    elements: Elements,
    lines: Vec<u64>,
    shape: Vec<usize>,
    /// The distance between items.
    stride: usize,
    /// The positions of an item's elements relative to its first one: in row-major and in column-major order.
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Part {
    /// An item's numbers in row-major order, or only those of `column` if it is given. A complex number gives two.
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
            self.elements.numbers((item - self.first) * self.stride + at, &mut out);
        }
        out
    }

    /// An item's word as a number of a type, if it is one number that fits; [`Part::argument`] tells why it does not.
    pub fn word(&self, item: usize, column: Option<usize>, scalar: bool, (ty, format): (Ty, Format)) -> Option<u64> {
        let is_number = self.columns.len() == 1 && (scalar || self.shape.is_empty());
        let column = column.or(is_number.then_some(0))?;
        let at = (item - self.first) * self.stride + self.columns.get(column)?;
        match &self.elements {
            Elements::Text(texts) => number_word(texts.get(at)?, ty, format).ok(),
            Elements::Float(numbers) if ty == Ty::F => Some(numbers.get(at)?.to_bits()),
            Elements::Float(_) | Elements::Int(_) | Elements::Uint(_) | Elements::Complex(_) => None,
        }
    }

    /// An item as an argument of a Nil program; an array's elements are in column-major order. With `scalar`, an item
    /// of one element is a number.
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

    /// The place of an item for messages: `x.npy: item 3`, `x.csv: item 3 (line 5)`.
    pub fn place(&self, item: usize) -> String {
        match item.checked_sub(self.first).and_then(|n| self.lines.get(n)) {
            Some(line) => format!("{}: item {item} (line {line})", self.path),
            None => format!("{}: item {item}", self.path),
        }
    }
}

/// Opens a file that can be read more than once. A source that cannot is copied to such a file.
fn opened(path: &str) -> Result<File, ReadError> {
    let unreadable = |e: io::Error| format!("cannot be read: {e}");
    let mut file = File::open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if about.is_file() {
        return Ok(file);
    }
    if about.is_dir() {
        return Err("cannot be read: it is a folder".into());
    }
    let mut copy = tempfile::tempfile().map_err(unreadable)?;
    let bytes = io::copy(&mut (&mut file).take(LIMIT + 1), &mut copy).map_err(unreadable)?;
    if bytes > LIMIT {
        let exceeded = Exceeded::new(Resource::Bytes, LIMIT, "what is not a file");
        return Err(exceeded.instead("put it into a file, of which any length is read").into());
    }
    copy.rewind().map_err(unreadable)?;
    Ok(copy)
}

/// True if a cell is a name, not a number.
fn is_name(cell: &str) -> bool {
    let number = ["nan", "inf", "infinity", "true", "false"].iter().any(|n| cell.eq_ignore_ascii_case(n));
    // `exp(3)` is how a logarithmic number is written, and `sin(x)` might be what is in a column.
    let written = || cell.contains('(') && arguments::parse(cell).is_ok();
    !number && cell.starts_with(|c: char| c.is_alphabetic() || c == '_') && !written()
}

#[cfg(test)]
mod tests {
    use super::*;
    use npyz::WriterBuilder as _;
    use std::path::PathBuf;

    fn npy(folder: &tempfile::TempDir, shape: &[u64], order: npyz::Order) -> PathBuf {
        let path = folder.path().join("a.npy");
        let mut bytes = Vec::new();
        let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        writer.extend(0..shape.iter().product::<u64>() as i64).unwrap();
        writer.finish().unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn read(path: PathBuf) -> Result<Items, ArrayError> {
        Items::read(path.to_str().unwrap())
    }

    fn ints(numbers: &[i128]) -> Vec<Number> {
        numbers.iter().map(|n| Number::Int(*n)).collect()
    }

    #[test]
    fn items_go_along_the_first_axis_in_either_order() {
        let folder = tempfile::tempdir().unwrap();
        let items = read(npy(&folder, &[2, 2, 3], npyz::Order::C)).unwrap();
        assert_eq!((items.count(), items.shape()), (2, &[2, 3][..]));
        for part in [0..2, 1..2] {
            let part = items.part(part).unwrap();
            assert_eq!(part.numbers(1, None), ints(&[6, 7, 8, 9, 10, 11]));
            let Argument::Array(shape, numbers) = part.argument(1, None, false) else { panic!("no array") };
            assert_eq!(shape, [2, 3]);
            let wanted = ints(&[6, 9, 7, 10, 8, 11]);
            assert_eq!(numbers, wanted.into_iter().map(arguments::number).collect::<Vec<_>>());
        }
        // Element (n, i, j) of a column-major file is number n + 2 i + 4 j.
        let items = read(npy(&folder, &[2, 2, 3], npyz::Order::Fortran)).unwrap();
        for part in [0..2, 1..2] {
            assert_eq!(items.part(part).unwrap().numbers(1, None), ints(&[1, 5, 9, 3, 7, 11]));
        }
        assert_eq!(items.part(0..1).unwrap().numbers(0, Some(2)), ints(&[8]));
    }

    #[test]
    fn a_first_row_of_numbers_is_no_row_of_names() {
        let folder = tempfile::tempdir().unwrap();
        let count = |text: &str| {
            let path = folder.path().join("a.csv");
            std::fs::write(&path, text).unwrap();
            let items = read(path).unwrap();
            (items.count(), items.names().is_some())
        };
        assert_eq!(count("exp(3)\nexp(2.5)\n"), (2, false));
        assert_eq!(count("inf\ntrue\n"), (2, false));
        assert_eq!(count("sin(x)\n0.5\n"), (1, true));
        assert_eq!(count("x,exp(3)\n1,2\n"), (2, false));
    }

    #[test]
    fn rows_may_end_with_a_carriage_return_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "x,y\r1, 2\r\r# none\r3,4\n5,6\r").unwrap();
        let items = read(path).unwrap();
        assert_eq!((items.count(), items.shape()), (3, &[2][..]));
        let all = items.part(0..3).unwrap();
        for n in 0..3 {
            let wanted = [2 * n + 1, 2 * n + 2].map(|k| Number::Text(k.to_string()));
            assert_eq!(all.numbers(n, None), wanted);
            assert_eq!(items.part(n..n + 1).unwrap().numbers(n, None), wanted);
        }
    }

    #[test]
    fn rows_are_read_part_by_part() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "\u{feff}x, y\n# of names\n1,\"2\"\r\n\n3,4\r5,6.5\n7,8").unwrap();
        let items = read(path).unwrap();
        assert_eq!((items.count(), items.shape(), items.names().map(<[String]>::len)), (4, &[2][..], Some(2)));
        let text = |a: &str, b: &str| [a, b].map(|t| Number::Text(t.to_string()));
        let all = items.part(0..4).unwrap();
        for (n, wanted) in [text("1", "2"), text("3", "4"), text("5", "6.5"), text("7", "8")].iter().enumerate() {
            assert_eq!(all.numbers(n, None), wanted);
            assert_eq!(items.part(n..n + 1).unwrap().numbers(n, None), wanted);
        }
        // Parts can also be read in descending order.
        assert_eq!(items.part(1..2).unwrap().numbers(1, Some(0)), [Number::Text("3".to_string())]);
        assert!(all.place(0).ends_with("item 0 (line 3)"), "{}", all.place(0));
        assert!(items.part(3..4).unwrap().place(3).ends_with("item 3 (line 6)"));
        assert_eq!((items.telling(None).unwrap(), items.telling(Some(0)).unwrap()), (2, 0));
    }

    #[test]
    fn what_is_no_batch() {
        let folder = tempfile::tempdir().unwrap();
        let said = |path| read(path).unwrap_err().to_string();
        assert!(said(npy(&folder, &[], npyz::Order::C)).contains("single number"));
        assert!(said(npy(&folder, &[0, 3], npyz::Order::C)).contains("no items"));
        let path = folder.path().join("a.csv");
        for (text, why) in
            [("# nothing\n", "no items"), ("1,2\n3\n", "different lengths"), ("1,,2\n", "line 1, cell 2: empty")]
        {
            std::fs::write(&path, text).unwrap();
            assert!(said(path.clone()).contains(why), "{text}");
        }
        assert!(said(folder.path().join("none.csv")).contains("cannot be read"));
    }
}
