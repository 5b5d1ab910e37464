//! Sparse sequences of words: data segments, copies of memory.

/// The number of words in a page.
const PAGE: usize = 512;

/// A sequence of words that only stores the pages with words other than zero.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SparseWords {
    len: usize,
    /// The pages with words other than zero, by page number.
    pages: Vec<(usize, Box<[u64; PAGE]>)>,
}

impl SparseWords {
    /// The empty sequence.
    pub const fn new() -> SparseWords {
        SparseWords { len: 0, pages: Vec::new() }
    }

    /// The number of words.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the sequence is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The word at an index.
    pub fn get(&self, at: usize) -> Option<u64> {
        (at < self.len).then(|| self.page(at / PAGE).map_or(0, |page| page[at % PAGE]))
    }

    /// All words in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let mut pages = self.pages.iter().peekable();
        (0..self.len.div_ceil(PAGE)).flat_map(move |number| {
            let page = pages.next_if(|(n, _)| *n == number).map(|(_, page)| page);
            (0..PAGE.min(self.len - number * PAGE)).map(move |at| page.map_or(0, |page| page[at]))
        })
    }

    /// All words as a dense vector.
    pub fn to_vec(&self) -> Vec<u64> {
        let mut out = vec![0; self.len];
        self.copy_to(&mut out);
        out
    }

    /// The words other than zero, with their indices.
    pub fn nonzero(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> + '_ {
        self.pages.iter().flat_map(|(number, page)| {
            let words = page.iter().enumerate().filter(|(_, w)| **w != 0);
            words.map(move |(at, w)| (number * PAGE + at, *w))
        })
    }

    /// The index of the first word from `at` on that is not zero.
    pub fn next_nonzero(&self, at: usize) -> Option<usize> {
        let first = self.pages.partition_point(|(n, _)| *n < at / PAGE);
        self.pages[first..].iter().find_map(|(number, page)| {
            let start = number * PAGE;
            let from = at.saturating_sub(start).min(PAGE);
            page[from..].iter().position(|w| *w != 0).map(|n| start + from + n)
        })
    }

    /// The number of words that are stored.
    pub fn stored(&self) -> usize {
        self.pages.len() * PAGE
    }

    /// The length without trailing zeros.
    pub fn trimmed_len(&self) -> usize {
        let last = |(number, page): &(usize, Box<[u64; PAGE]>)| {
            page.iter().rposition(|w| *w != 0).map(|at| number * PAGE + at + 1)
        };
        self.pages.iter().rev().find_map(last).unwrap_or(0)
    }

    /// The differences of two sequences of the same length: index, word of this one, word of the other.
    pub fn differences<'a>(&'a self, other: &'a SparseWords) -> impl Iterator<Item = (usize, u64, u64)> + 'a {
        const ZEROS: &[u64; PAGE] = &[0; PAGE];
        let (mut mine, mut theirs) = (self.pages.iter().peekable(), other.pages.iter().peekable());
        let pairs = std::iter::from_fn(move || {
            let numbers = [mine.peek(), theirs.peek()].into_iter().flatten().map(|(n, _)| *n);
            let number = numbers.min()?;
            let a = mine.next_if(|(n, _)| *n == number).map_or(ZEROS, |(_, page)| page);
            let b = theirs.next_if(|(n, _)| *n == number).map_or(ZEROS, |(_, page)| page);
            Some((number * PAGE, a, b))
        });
        pairs.flat_map(|(first, a, b)| {
            a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b).map(move |(n, (a, b))| (first + n, *a, *b))
        })
    }

    /// Adds a word.
    pub fn push(&mut self, word: u64) {
        if word != 0 {
            let number = self.len / PAGE;
            if self.pages.last().is_none_or(|(n, _)| *n != number) {
                self.pages.push((number, Box::new([0; PAGE])));
            }
            if let Some((_, page)) = self.pages.last_mut() {
                page[self.len % PAGE] = word;
            }
        }
        self.len += 1;
    }

    /// Adds zeros.
    pub fn push_zeros(&mut self, count: usize) {
        self.len += count;
    }

    /// Copies the words to `out`, which must be as long. Zeros that are there already are not written, so that the system need not
    /// allocate pages for them.
    ///
    /// # Panics
    /// If `out` has another length.
    pub fn copy_to(&self, out: &mut [u64]) {
        assert_eq!(out.len(), self.len, "words of another length");
        let mut rest = out;
        let mut copied = 0;
        for (number, page) in &self.pages {
            let (gap, from) = rest.split_at_mut(number * PAGE - copied);
            clear(gap);
            let (here, after) = from.split_at_mut(PAGE.min(from.len()));
            here.copy_from_slice(&page[..here.len()]);
            (rest, copied) = (after, (number + 1) * PAGE);
        }
        clear(rest);
    }

    /// Whether these are all words, in their order.
    pub fn is_equal(&self, words: &[u64]) -> bool {
        let mut stored = self.pages.iter().peekable();
        let same = |(number, chunk): (usize, &[u64])| match stored.next_if(|(n, _)| *n == number) {
            Some((_, page)) => page[..chunk.len()] == *chunk,
            None => is_zero(chunk),
        };
        words.len() == self.len && words.chunks(PAGE).enumerate().all(same)
    }

    fn page(&self, number: usize) -> Option<&[u64; PAGE]> {
        let at = self.pages.binary_search_by_key(&number, |(n, _)| *n).ok()?;
        Some(&self.pages[at].1)
    }
}

/// Whether all words are zero.
pub fn is_zero(words: &[u64]) -> bool {
    // Pages are looked at as a whole: that takes vector instructions, a search for the first word does not.
    words.chunks(PAGE).all(|page| page.iter().fold(0, |all, w| all | w) == 0)
}

/// Sets words to zero. Words that are zero already are not written, so that untouched pages stay unallocated.
pub fn clear(words: &mut [u64]) {
    for page in words.chunks_mut(PAGE) {
        if !is_zero(page) {
            page.fill(0);
        }
    }
}

impl From<&[u64]> for SparseWords {
    fn from(words: &[u64]) -> SparseWords {
        let mut pages = Vec::new();
        for (number, chunk) in words.chunks(PAGE).enumerate() {
            if !is_zero(chunk) {
                let mut page = Box::new([0; PAGE]);
                page[..chunk.len()].copy_from_slice(chunk);
                pages.push((number, page));
            }
        }
        SparseWords { len: words.len(), pages }
    }
}

impl From<Vec<u64>> for SparseWords {
    fn from(words: Vec<u64>) -> SparseWords {
        SparseWords::from(&words[..])
    }
}

impl FromIterator<u64> for SparseWords {
    fn from_iter<I: IntoIterator<Item = u64>>(words: I) -> SparseWords {
        let mut out = SparseWords::new();
        out.extend(words);
        out
    }
}

impl Extend<u64> for SparseWords {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, words: I) {
        words.into_iter().for_each(|word| self.push(word));
    }
}

impl std::fmt::Debug for SparseWords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} words, ", self.len)?;
        f.debug_map().entries(self.nonzero()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Runs of zeros and of other words, longer and shorter than pages.
    fn sequence() -> impl Strategy<Value = Vec<u64>> {
        let run = prop_oneof![(1usize..1500).prop_map(|n| vec![0; n]), prop::collection::vec(0u64..3, 1..40)];
        prop::collection::vec(run, 0..8).prop_map(|runs| runs.concat())
    }

    proptest! {
        #[test]
        fn it_is_the_sequence(words in sequence(), at in 0usize..5000) {
            let sparse = SparseWords::from(&words[..]);
            prop_assert_eq!(sparse.iter().collect::<Vec<_>>(), words.clone());
            prop_assert_eq!(&words.iter().copied().collect::<SparseWords>(), &sparse);
            prop_assert_eq!(sparse.get(at), words.get(at).copied());
            let found = words.iter().enumerate().skip(at).find(|(_, w)| **w != 0).map(|(n, _)| n);
            prop_assert_eq!(sparse.next_nonzero(at), found);
            prop_assert_eq!(sparse.trimmed_len(), words.iter().rposition(|w| *w != 0).map_or(0, |n| n + 1));
        }

        #[test]
        fn copies_and_differences(a in sequence(), b in sequence()) {
            let mut b = b;
            b.resize(a.len(), 7);
            let (x, y) = (SparseWords::from(&a[..]), SparseWords::from(&b[..]));
            prop_assert!(x.is_equal(&a));
            prop_assert_eq!(x.is_equal(&b), a == b);
            prop_assert!(!x.is_equal(&[&a[..], &[0]].concat()));
            let both = a.iter().copied().zip(b.iter().copied()).enumerate();
            let wanted: Vec<_> = both.filter(|(_, (a, b))| a != b).map(|(n, (a, b))| (n, a, b)).collect();
            prop_assert_eq!(x.differences(&y).collect::<Vec<_>>(), wanted);
            x.copy_to(&mut b);
            prop_assert_eq!(b, a);
        }

        #[test]
        fn zeros_are_counted(runs in prop::collection::vec((0usize..2000, 1u64..9), 0..5)) {
            let mut sparse = SparseWords::new();
            let mut words = Vec::new();
            for (zeros, word) in runs {
                sparse.push_zeros(zeros);
                sparse.push(word);
                words.resize(words.len() + zeros, 0);
                words.push(word);
            }
            prop_assert_eq!(sparse, SparseWords::from(&words[..]));
        }
    }

    #[test]
    fn what_is_zero_takes_no_memory() {
        let mut sparse = SparseWords::new();
        sparse.push_zeros(1 << 60);
        sparse.push(1);
        assert_eq!((sparse.len(), sparse.pages.len(), sparse.trimmed_len()), ((1 << 60) + 1, 1, (1 << 60) + 1));
    }
}
