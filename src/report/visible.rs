//! Text for people that comes from input: characters that a terminal would interpret are shown as escapes.
//!
//! Names of files, labels, texts and messages may contain anything. Characters that move the cursor, change colours or
//! titles, ring the bell, or change the direction of writing would let a program's source appear as something that it
//! is not.

use std::borrow::Cow;

/// True if a terminal interprets a character instead of showing it: control characters except line ends and tabs, and
/// characters that change the direction of writing.
fn is_obeyed(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

/// A text in a safe form: `\x1b`, `\u{202e}` for characters that a terminal would interpret. Line ends and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, false)
}

/// Like [`visible`] for a single line, such as a file name: line ends and tabs are escaped, too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escaped(text, true)
}

/// Whether a text has printable characters of ASCII alone: it is shown as it is, and each byte takes a column.
pub fn is_plain(text: &str) -> bool {
    // Most are; all bytes are looked at, several at once.
    text.bytes().fold(true, |plain, byte| plain & matches!(byte, 0x20..=0x7e))
}

/// Whether a text has characters that are to be escaped, in a single `line` also line ends and tabs. Bytes tell of most characters that they
/// are harmless.
fn needs_escapes(text: &str, line: bool) -> bool {
    if is_plain(text) {
        return false;
    }
    text.bytes().enumerate().any(|(n, byte)| match byte {
        b'\n' | b'\t' => line,
        0x20..=0x7e | 0x80..=0xc1 | 0xc3..=0xd7 | 0xd9..=0xe1 | 0xe3.. => false,
        // Characters that terminals obey begin so.
        0x00..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe2 => text[n..].chars().next().is_some_and(is_obeyed),
    })
}

fn escaped(text: &str, line: bool) -> Cow<'_, str> {
    if !needs_escapes(text, line) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if line => out.push_str("\\n"),
            '\t' if line => out.push_str("\\t"),
            c if !is_obeyed(c) => out.push(c),
            '\r' => out.push_str("\\r"),
            c if u32::from(c) < 0x80 => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        assert_eq!(visible("\x1b]0;title\x07\r"), "\\x1b]0;title\\x07\\r");
        assert_eq!(
            visible("a\u{202e}b\u{2066}\u{200f}\u{61c}\u{9b}\x7f\0"),
            "a\\u{202e}b\\u{2066}\\u{200f}\\u{61c}\\u{9b}\\x7f\\x00"
        );
        let harmless = "∂/∂x = 1.5\n\tβ → naïve … 数 أ";
        assert_eq!(visible(harmless), harmless);
        assert_eq!(visible_line("a\nb\tc"), "a\\nb\\tc");
        // The test of the first byte agrees with the test of the character, for all characters.
        for c in (0..=0x10ffff).filter_map(char::from_u32) {
            let text = c.to_string();
            assert_eq!(visible(&text) != text, is_obeyed(c), "{c:?}");
        }
    }
}
