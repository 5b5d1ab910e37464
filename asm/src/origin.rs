//! Where a text was written: in a file as it stands, or in the pieces that a macro's expansion consists of.
//!
//! The expansion itself is in [`expand`](crate::expand).

use std::ops::Range;

use crate::ast::Span;

/// A range of an expansion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Where it begins in the expansion.
    at: u32,
    len: u32,
    origin: Span,
    /// Whether the source contains the same text.
    verbatim: bool,
}

/// Where a text was written.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// In a file whose spans begin here.
    File(u32),
    /// In pieces, in order and without gaps.
    Pieces(Vec<Piece>),
}

/// The maximum number of pieces that are distinguished.
const MAX_PIECES: usize = 1 << 12;

impl Origin {
    /// The place of a range of the text.
    #[inline]
    pub(crate) fn span(&self, start: u32, len: u32) -> Span {
        match self {
            Origin::File(base) => Span { start: base + start, len },
            Origin::Pieces(pieces) => span_in(pieces, start, len),
        }
    }

    /// Appends to `out` where a range of this text was written, for a copy that begins at `at`.
    pub(crate) fn copy(&self, range: Range<usize>, at: usize, out: &mut Vec<Piece>) {
        let (start, end) = (range.start as u32, range.end as u32);
        match self {
            Origin::File(base) => {
                let origin = Span { start: base + start, len: end - start };
                add(out, Piece { at: at as u32, len: end - start, origin, verbatim: true });
            }
            Origin::Pieces(pieces) => {
                let first = pieces.partition_point(|p| p.at + p.len <= start);
                for piece in pieces[first..].iter().take_while(|p| p.at < end) {
                    let from = piece.at.max(start);
                    let len = (piece.at + piece.len).min(end) - from;
                    let origin = if piece.verbatim {
                        Span { start: piece.origin.start + (from - piece.at), len }
                    } else {
                        piece.origin
                    };
                    add(out, Piece { at: at as u32 + (from - start), len, origin, verbatim: piece.verbatim });
                }
            }
        }
    }
}

/// Appends a range that stands for other text in the source.
pub(crate) fn add_other(out: &mut Vec<Piece>, at: usize, len: usize, origin: Span) {
    add(out, Piece { at: at as u32, len: len as u32, origin, verbatim: false });
}

fn add(out: &mut Vec<Piece>, piece: Piece) {
    if piece.len == 0 {
        return;
    }
    let full = out.len() >= MAX_PIECES;
    match out.last_mut() {
        Some(last) if full => {
            last.len += piece.len;
            last.verbatim = false;
        }
        _ => out.push(piece),
    }
}

fn span_in(pieces: &[Piece], start: u32, len: u32) -> Span {
    let n = pieces.partition_point(|p| p.at <= start).saturating_sub(1);
    let Some(piece) = pieces.get(n) else { return Span::default() };
    if !piece.verbatim {
        return piece.origin;
    }
    let within = (start - piece.at.min(start)).min(piece.len);
    Span { start: piece.origin.start + within, len: len.min(piece.len - within) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_copies_know_their_source() {
        let mut pieces = Vec::new();
        Origin::File(100).copy(10..14, 0, &mut pieces);
        add_other(&mut pieces, 4, 2, Span { start: 7, len: 3 });
        Origin::File(100).copy(20..25, 6, &mut pieces);
        let first = Origin::Pieces(pieces);
        assert_eq!(first.span(1, 2), Span { start: 111, len: 2 });
        assert_eq!(first.span(3, 5), Span { start: 113, len: 1 });
        assert_eq!(first.span(5, 1), Span { start: 7, len: 3 });
        let mut again = Vec::new();
        first.copy(2..9, 3, &mut again);
        let second = Origin::Pieces(again);
        assert_eq!(second.span(3, 1), Span { start: 112, len: 1 });
        assert_eq!(second.span(7, 2), Span { start: 120, len: 2 });
    }
}
