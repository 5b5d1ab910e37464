//! How much of the host's stack compiled code may use for calls.
//!
//! Recursive code checks the stack before each call and takes a side exit if there is too little left; the interpreter, which
//! uses the machine's own stack, then continues. Threads differ in stack size (`ulimit -s`, or whatever started the thread),
//! so the limit is determined on each entry.

/// The bytes that must remain of a stack before code is generated or run on it: enough for the entry, one frame and its callees.
const MIN_REMAINING: usize = 256 << 10;

/// The remaining bytes of the thread's stack, if known.
#[inline]
pub fn left() -> Option<usize> {
    stacker::remaining_stack()
}

/// The bytes of stack, at most `most`, that code entered now may use for calls. `None` if the code should not be entered or the
/// stack's size is unknown. At least as much again stays free for frames, which check only after they have begun, and for the
/// kernels that they call.
#[inline]
pub fn room(most: usize) -> Option<usize> {
    left().filter(|left| *left >= MIN_REMAINING).map(|left| most.min(left / 2))
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
        // The system may reuse a larger stack of a thread that has ended.
        assert!((MIN_REMAINING / 2..=1 << 20).contains(&some), "{some}");
    }
}
