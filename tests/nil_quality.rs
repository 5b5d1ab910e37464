//! Compiled inner loops take at most 1.3 times the instructions of loops written by hand.

#[path = "../benches/nil/quality.rs"]
mod quality;

#[test]
fn loops_are_nearly_as_short_as_by_hand() {
    for l in quality::LOOPS {
        let (compiled, hand) = l.instructions();
        assert!(compiled * 10 <= hand * 13, "{}: {compiled} instructions, {hand} by hand", l.name);
    }
}
