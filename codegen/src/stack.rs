//! How much of the host's stack compiled code may take for calls.
//!
//! Code that recurses asks before each call whether it may go on, and leaves where
//! it may not; the interpreter, whose stack is the machine's, does what is left.
//! How large the stack is, is the thread's affair (`ulimit -s`, whoever started
//! it), so it is asked for on each entry.

/// The least that must be left of a stack for code to be made and run on it: for the entry, one frame and what that calls.
const LEAST: usize = 256 << 10;

/// How many bytes of the thread's stack are left, if that is known.
pub fn left() -> Option<usize> {
    stacker::remaining_stack()
}

/// How many bytes code that is entered now may take for calls, of `most`; `None` where it should not be entered, or nothing is known of the
/// stack. At least as much again is left for frames, which are asked for after they have been begun, and for the kernels that they call.
pub fn room(most: usize) -> Option<usize> {
    left().filter(|left| *left >= LEAST).map(|left| most.min(left / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_as_much_as_they_were_given() {
        let on = |size: usize| {
            let thread = std::thread::Builder::new().stack_size(size).spawn(|| room(1 << 20));
            thread.expect("a thread").join().expect("no panic")
        };
        assert_eq!(on(8 << 20), Some(1 << 20));
        assert_eq!(on(128 << 10), None);
        let some = on(1 << 20).expect("room");
        // The system may give a thread more, a stack that another has left.
        assert!((LEAST / 2..=1 << 20).contains(&some), "{some}");
    }
}
