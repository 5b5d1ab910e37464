//! Looks at the procedure that a user has chosen: the innermost one, or one that has called it.

use pendula::debug::Session;
use pendula::visible::visible;

use super::interpreter::{Interpreter, count, some};
use super::text;

impl<'p> Interpreter<'_, 'p> {
    pub(super) fn print(&mut self, rest: &str, hex: bool) -> Result<String, String> {
        let wanted = some(rest, "say what: `print x`")?;
        self.see(|session| text::value(session, wanted, hex))?
    }

    pub(super) fn list(&mut self, rest: &str) -> Result<String, String> {
        let texts = self.texts;
        self.see(|session| text::list(session, texts, rest))?
    }

    pub(super) fn down(&mut self, rest: &str) -> Result<String, String> {
        let to = self.frame().checked_sub(count(rest)?);
        to.map_or_else(|| Err("this is the innermost procedure".to_string()), |n| self.look_at(n))
    }

    /// The number of the procedure that is looked at: the innermost one after each movement.
    pub(super) fn frame(&self) -> usize {
        let (frame, at) = self.frame;
        if at == self.session.timeline().now() { frame } else { 0 }
    }

    /// Looks at the innermost procedure again.
    pub(super) fn leave_frame(&mut self) {
        self.frame = (0, 0);
    }

    /// Looks at the procedure of a frame.
    pub(super) fn look_at(&mut self, n: usize) -> Result<String, String> {
        let frames = self.session.frames();
        let frame =
            frames.get(n).ok_or_else(|| format!("there is no procedure {n}: `backtrace` shows {}", frames.len()))?;
        let moment = self.session.moment_of_frame(n)?;
        self.frame = (n, self.session.timeline().now());
        let texts = self.texts;
        let place = self.session.at(moment, |session| text::position(session, texts));
        Ok(format!("{n}: {}\n{place}", visible(&frame.name)))
    }

    /// What there is to see of the procedure that is looked at.
    pub(super) fn see<T>(&mut self, see: impl FnOnce(&Session<'p>) -> T) -> Result<T, String> {
        match self.frame() {
            0 => Ok(see(&self.session)),
            n => {
                let moment = self.session.moment_of_frame(n)?;
                Ok(self.session.at(moment, see))
            }
        }
    }
}
