//! Lines and columns of instructions, for the module's line table.

use std::collections::HashMap;

use pendula_isa::module::Loc;

/// Finds lines and columns. Most instructions follow each other, so the previous answer is a good start.
#[derive(Default)]
pub(super) struct Locator {
    file: u16,
    line: u32,
    /// The range of the line that was found last.
    start: u32,
    end: u32,
    /// The starts of lines, for each file that has been looked up.
    starts: HashMap<u16, Vec<u32>>,
}

impl Locator {
    pub(super) fn loc(&mut self, text: &str, file: u16, offset: u32) -> Loc {
        if self.line == 0 || file != self.file || !(self.start..=self.end).contains(&offset) {
            let starts = self.starts.entry(file).or_insert_with(|| {
                let newlines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
                std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect()
            });
            // Most often the place is on one of the next lines.
            let hint = if file == self.file { self.line as usize } else { 0 };
            let near = starts.get(hint..).unwrap_or(&[]).iter().take(4).position(|start| *start > offset);
            let line = match near {
                Some(n) if starts.get(hint.wrapping_sub(1)).is_some_and(|start| *start <= offset) => hint + n,
                _ => starts.partition_point(|start| *start <= offset),
            };
            self.file = file;
            self.line = line as u32;
            self.start = line.checked_sub(1).and_then(|n| starts.get(n)).copied().unwrap_or(0);
            self.end = starts.get(line).map_or(u32::MAX, |next| next - 1);
        }
        let before = text.get(self.start as usize..offset as usize).unwrap_or("");
        let column = before.chars().count() + 1;
        Loc { file, line: self.line, column: u16::try_from(column).unwrap_or(u16::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_any_order() {
        let texts = ["a\n\nbé c\nd\n\n\n\n\n\n\nlast", "", "\nx"];
        let mut locator = Locator::default();
        let mut random = 1u32;
        for _ in 0..2000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let file = (random >> 8) as usize % texts.len();
            let text = texts[file];
            let mut offset = (random >> 16) as usize % (text.len() + 1);
            while !text.is_char_boundary(offset) {
                offset -= 1;
            }
            let before = &text[..offset];
            let line = before.matches('\n').count() as u32 + 1;
            let column = before.chars().rev().take_while(|c| *c != '\n').count() as u16 + 1;
            assert_eq!(locator.loc(text, file as u16, offset as u32), Loc { file: file as u16, line, column });
        }
    }
}
