//! Parts that the syntax trees of all languages share.

use std::ops::Range;

/// Byte offsets into the source text.
pub type Span = Range<usize>;

/// A name and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name with all its characters, such as the mark of Nil's `y!`.
    pub text: String,
    /// The place of the name.
    pub span: Span,
}

/// Whether two names differ little: by one letter that is added, removed or replaced, or by two neighbours that are
/// exchanged; long names may differ by two such mistakes.
pub(crate) fn is_near(a: &str, b: &str) -> bool {
    let fold = |text: &str| text.trim_end_matches('!').to_lowercase().chars().collect::<Vec<char>>();
    let (a, b) = (fold(a), fold(b));
    // Most names of one or two letters are near each other.
    let most = match a.len().min(b.len()) {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    a.len().abs_diff(b.len()) <= most && a.len().max(b.len()) < 100 && mistakes(&a, &b) <= most
}

/// The most names that are compared with an unknown name.
const MOST_COMPARED: usize = 1000;

/// The name that differs least from an unknown name, if it differs little; of several, the first in alphabetical order.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let letters = |text: &str| text.chars().collect::<Vec<char>>();
    let near = names.take(MOST_COMPARED).filter(|other| is_near(name, other));
    near.min_by_key(|other| (mistakes(&letters(name), &letters(other)), *other))
}

/// The number of such mistakes between two names.
fn mistakes(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let other = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let one = other.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                let exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if exchanged { one.min(rows[i - 2][j - 2] + 1) } else { one }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{is_near, nearest};

    #[test]
    fn the_nearest_name_is_the_one_with_the_fewest_mistakes() {
        assert_eq!(nearest("incremnt", ["increment", "incrementx", "decrement"].into_iter()), Some("increment"));
        assert_eq!(nearest("total", ["Total", "totals", "other"].into_iter()), Some("Total"));
        assert_eq!(nearest("x", ["y", "z"].into_iter()), None);
    }

    #[test]
    fn names_that_differ_by_little() {
        for (a, b) in [("widht", "width"), ("Total!", "total"), ("resutl!", "result!"), ("position", "positions")] {
            assert!(is_near(a, b), "{a} {b}");
        }
        for (a, b) in [("x", "y"), ("ab", "ac"), ("sum", "max"), ("width", "height")] {
            assert!(!is_near(a, b), "{a} {b}");
        }
    }
}
