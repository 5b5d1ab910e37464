//! Many short texts in one, such as the cells of a row.

/// Texts, one after the other, without an allocation for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    all: String,
    /// Where each of them ends.
    ends: Vec<usize>,
}

impl Texts {
    /// None, with room for `count` texts of `bytes` bytes in all.
    pub fn with_capacity(count: usize, bytes: usize) -> Texts {
        Texts { all: String::with_capacity(bytes), ends: Vec::with_capacity(count) }
    }

    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.end();
    }

    /// The texts so far as one, to which the next one can be added; [`Texts::end`] ends it.
    pub fn open(&mut self) -> &mut String {
        &mut self.all
    }

    /// Ends a text that was added to [`Texts::open`].
    pub fn end(&mut self) {
        self.ends.push(self.all.len());
    }

    /// Adds other texts.
    pub fn append(&mut self, others: &Texts) {
        let before = self.all.len();
        self.all.push_str(&others.all);
        self.ends.extend(others.ends.iter().map(|end| before + end));
    }

    /// Removes all texts.
    pub fn clear(&mut self) {
        self.all.clear();
        self.ends.clear();
    }

    /// Keeps the first `count` texts.
    pub fn truncate(&mut self, count: usize) {
        self.ends.truncate(count);
        self.all.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text with a number, from 0 on.
    pub fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        self.all.get(begin..end)
    }

    /// The texts in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| &self.all[begin..*end])
    }

    /// All of them, one after the other.
    pub fn joined(&self) -> &str {
        &self.all
    }
}

impl<T: AsRef<str>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Texts {
        let mut out = Texts::default();
        texts.into_iter().for_each(|text| out.push(text.as_ref()));
        out
    }
}
