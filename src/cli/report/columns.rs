//! Text in columns. The formatter of the standard library pads to 65,535 characters and panics beyond; names and values may be longer.

/// The length of a text in characters.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// A number of blanks.
pub(crate) fn blanks(count: usize) -> String {
    " ".repeat(count)
}

/// A text padded on the right to a minimum width.
pub(crate) fn left(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len().max(width));
    push_left(&mut out, text, width);
    out
}

/// Adds a text padded on the right to a minimum width.
pub(crate) fn push_left(out: &mut String, text: &str, width: usize) {
    const BLANKS: &str = "                                ";
    out.push_str(text);
    let mut missing = width.saturating_sub(length(text));
    while missing > 0 {
        let some = missing.min(BLANKS.len());
        out.push_str(&BLANKS[..some]);
        missing -= some;
    }
}

/// A text padded on the left to a minimum width.
pub(crate) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", blanks(width.saturating_sub(length(text))))
}

/// A text of at most this many characters. Of a longer text, the beginning is shown, and its length.
pub(crate) fn shortened(text: String, most: usize) -> String {
    let all = length(&text);
    if all <= most {
        return text;
    }
    let tail = format!("… ({all} characters)");
    let head: String = text.chars().take(most.saturating_sub(length(&tail))).collect();
    head + &tail
}

/// The width of a terminal, in characters.
pub(crate) const WIDTH: usize = 80;

/// A text in lines no wider than a terminal, the first one after the margin `first` and the others after `rest`.
pub(crate) fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut out = String::from(first);
    let mut width = length(first);
    let mut begun = false;
    // Blanks at the beginning of a line are kept.
    for word in text.split(' ') {
        let own = length(word);
        if begun && width + 1 + own > WIDTH {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.push_str(rest);
            width = length(rest);
        } else if begun {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += own;
        begun = true;
    }
    out.push('\n');
    out
}

/// A text whose lines are folded if they are wider than a terminal; continuation lines are indented by `more`
/// characters more.
pub(crate) fn folded(text: &str, more: usize) -> String {
    let line = |line: &str| {
        if length(line) <= WIDTH {
            return format!("{line}\n");
        }
        let own = line.trim_start();
        let margin = blanks(line.len() - own.len());
        wrapped(own, &margin, &format!("{margin}{}", blanks(more)))
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_width_can_be_padded_to() {
        assert_eq!((left("∂x", 4), right("∂x", 4), left("long", 2)), ("∂x  ".into(), "  ∂x".into(), "long".into()));
        assert_eq!(length(&left("x", 70_000)), 70_000);
        assert_eq!(length(&right(&"y".repeat(66_000), 70_000)), 70_000);
        assert_eq!(shortened("1, 2, 3".into(), 7), "1, 2, 3");
        let short = shortened("1234567890".repeat(10), 40);
        let long = format!("  {}", "word ".repeat(20).trim_end());
        let folded = folded(&format!("one\n{long}\n"), 2);
        assert_eq!(folded, format!("one\n  {}\n    {}\n", "word ".repeat(15).trim_end(), "word ".repeat(5).trim_end()));
        assert_eq!((short.as_str(), length(&short)), ("1234567890123456789012… (100 characters)", 40));
    }
}
