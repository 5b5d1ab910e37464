//! Comma-separated values, row by row. Only one row is in memory, so the file may have any length.

use std::io::{BufRead, Read, Seek};

use pendula_isa::budget::{Exceeded, Resource};

use super::{LIMIT, ReadError, Texts};

/// The rows of a text.
#[derive(Debug)]
pub(crate) struct Rows<R> {
    reader: R,
    /// The number of lines read so far.
    line: u64,
    /// That line.
    bytes: Vec<u8>,
    /// Where its next row begins, if it has one: in files that end rows with a carriage return alone, a line holds several.
    next: Option<usize>,
    /// The most bytes of a line.
    longest: usize,
    /// The most bytes that may still be read.
    left: u64,
}

impl<R: BufRead + Seek> Rows<R> {
    /// Goes back to the first row.
    pub(crate) fn rewind(&mut self) -> Result<(), String> {
        self.next = None;
        self.line = 0;
        self.reader.rewind().map_err(|e| super::unreadable(&e))
    }
}

impl<R: BufRead> Rows<R> {
    pub(crate) fn new(reader: R) -> Rows<R> {
        Rows { reader, line: 0, bytes: Vec::new(), next: None, longest: LIMIT as usize, left: u64::MAX }
    }

    /// Refuses lines of more than `longest` bytes, and files of more than `file` bytes.
    pub(crate) fn within(self, longest: usize, file: u64) -> Rows<R> {
        Rows { longest: longest.min(LIMIT as usize), left: file, ..self }
    }

    /// Reads the cells of the next row, without surrounding blanks, and returns its line number. Empty lines and lines
    /// that begin with `#` are skipped.
    pub(crate) fn next(&mut self, cells: &mut Texts) -> Result<Option<u64>, ReadError> {
        cells.clear();
        loop {
            let Some(begin) = self.next else {
                if !self.read_line()? {
                    return Ok(None);
                }
                continue;
            };
            let rest = &self.bytes[begin..];
            let row = match rest.iter().position(|b| *b == b'\r') {
                Some(end) => {
                    self.next = Some(begin + end + 1);
                    &rest[..end]
                }
                None => {
                    self.next = None;
                    rest
                }
            };
            if row.is_empty() || row.first() == Some(&b'#') {
                continue;
            }
            let line = self.line;
            if row.contains(&b'"') {
                quoted(row, cells).map_err(|e| format!("line {line}: {e}"))?;
            } else {
                let text = std::str::from_utf8(row).map_err(|_| format!("line {line}: no text in UTF-8"))?;
                text.split(',').for_each(|cell| cells.push(cell.trim()));
            }
            if let Some(n) = cells.iter().position(str::is_empty) {
                return Err(format!("line {line}, cell {}: empty", n + 1).into());
            }
            return Ok(Some(line));
        }
    }

    /// Reads a line; false at the end of the file.
    fn read_line(&mut self) -> Result<bool, ReadError> {
        let bytes = &mut self.bytes;
        bytes.clear();
        let mut line = (&mut self.reader).take(self.longest as u64 + 1);
        let read = line.read_until(b'\n', bytes).map_err(|e| super::unreadable(&e))?;
        if read == 0 {
            return Ok(false);
        }
        if read > self.longest {
            let exceeded = Exceeded::new(Resource::Bytes, self.longest as u64, format!("line {}", self.line + 1));
            return Err(exceeded.instead("put fewer numbers in a row, or more into a `.npy` file").into());
        }
        if self.line == 0 && bytes.starts_with(b"\xef\xbb\xbf") {
            // Skips the byte order mark of UTF-8.
            bytes.drain(..3);
        }
        let Some(left) = self.left.checked_sub(read as u64) else {
            let exceeded = Exceeded::new(Resource::Bytes, LIMIT, "what is read of the file at once");
            return Err(exceeded.instead("put the numbers into a `.npy` file, or into several").into());
        };
        self.left = left;
        self.line += 1;
        bytes.pop_if(|b| *b == b'\n');
        bytes.pop_if(|b| *b == b'\r');
        self.next = Some(0);
        Ok(true)
    }
}

/// Splits a row with quoted cells.
fn quoted(row: &[u8], cells: &mut Texts) -> Result<(), csv::Error> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(row);
    for record in reader.records() {
        record?.iter().for_each(|cell| cells.push(cell));
    }
    Ok(())
}
