//! All second derivatives of a loss with respect to the live words, while its program is undone: a sparse symmetric matrix.
//!
//! This is edge pushing. Before an instruction is undone, the matrix H belongs to the words after it, and afterwards to those before it:
//! H ← Jᵀ·H·J + Σ g·∇²f, with the instruction's Jacobian J and the gradient words g of the words that it changes. For `y += f(x…)`,
//! what stands in the row of y goes to the rows of the arguments as well, and the second derivatives of f times g(y) are added. Only
//! entries that are not zero are kept.
//!
//! A row belongs to a word, wherever that is: words carry the numbers of their rows in a lane, so that instructions that move words
//! move these numbers.

/// The number of a word's row; 0 is none.
pub(crate) type RowId = u64;

/// The matrix. Rows are sorted by column, and every entry beside the diagonal stands in two of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curvature {
    rows: Vec<Vec<(RowId, f64)>>,
    free: Vec<RowId>,
}

impl Curvature {
    /// A new, empty row.
    pub(crate) fn create(&mut self) -> RowId {
        self.free.pop().unwrap_or_else(|| {
            self.rows.push(Vec::new());
            self.rows.len() as RowId
        })
    }

    /// The entries of a row.
    pub(crate) fn row(&self, id: RowId) -> &[(RowId, f64)] {
        let at = usize::try_from(id).ok().and_then(|at| at.checked_sub(1));
        at.and_then(|at| self.rows.get(at)).map_or(&[], Vec::as_slice)
    }

    fn row_mut(&mut self, id: RowId) -> &mut Vec<(RowId, f64)> {
        &mut self.rows[id as usize - 1]
    }

    fn get(&self, a: RowId, b: RowId) -> f64 {
        let row = self.row(a);
        row.binary_search_by_key(&b, |e| e.0).map_or(0.0, |at| row[at].1)
    }

    fn add_half(&mut self, a: RowId, b: RowId, x: f64) {
        let row = self.row_mut(a);
        match row.binary_search_by_key(&b, |e| e.0) {
            Ok(at) => {
                row[at].1 += x;
                if row[at].1 == 0.0 {
                    row.remove(at);
                }
            }
            Err(at) => row.insert(at, (b, x)),
        }
    }

    /// Adds to the entry of two words, which may be one.
    fn add(&mut self, a: RowId, b: RowId, x: f64) {
        if x == 0.0 {
            return;
        }
        self.add_half(a, b, x);
        if a != b {
            self.add_half(b, a, x);
        }
    }

    /// Adds `x` at (`a`, `b`) and at (`b`, `a`), which are the same place twice if the words are one.
    fn add_both(&mut self, a: RowId, b: RowId, x: f64) {
        self.add(a, b, if a == b { 2.0 * x } else { x });
    }

    /// Undoes `z += f(x…)`: `shares` has the row and the partial derivative of each argument, and `second` the second derivatives of f
    /// times the gradient word of z. Two arguments may be one word, but none is z.
    pub(crate) fn push(&mut self, z: RowId, shares: &[(RowId, f64)], second: &[[f64; 3]; 3]) {
        let row = self.row(z).to_vec();
        let own = self.get(z, z);
        for (n, &(x, p)) in shares.iter().enumerate() {
            for &(w, h) in row.iter().filter(|(w, _)| *w != z) {
                self.add_both(x, w, p * h);
            }
            if own != 0.0 {
                self.add(x, z, p * own);
            }
            self.add(x, x, p * p * own + second[n][n]);
            for (m, &(other, q)) in shares.iter().enumerate().skip(n + 1) {
                self.add_both(x, other, p * q * own + second[n][m]);
            }
        }
    }

    /// Multiplies a word's derivatives by a factor.
    pub(crate) fn scale(&mut self, id: RowId, by: f64) {
        let row = self.row(id).to_vec();
        for (w, h) in row {
            let factor = if w == id { by * by } else { by };
            self.add(id, w, h * factor - h);
        }
    }

    /// Undoes a change of three words: the derivatives of the words after it with respect to those before it are `jacobian`, one row
    /// for each word after it, and `second` is added. A row that is 0 has no word; its row and column of the Jacobian do not count.
    pub(crate) fn transform(&mut self, ids: [RowId; 3], jacobian: &[[f64; 3]; 3], second: &[[f64; 3]; 3]) {
        let mut columns: Vec<RowId> = ids.iter().flat_map(|id| self.row(*id)).map(|e| e.0).collect();
        columns.sort_unstable();
        columns.dedup();
        let inside = ids.map(|a| ids.map(|b| self.get(a, b)));
        let mut changes = Vec::new();
        for w in columns.into_iter().filter(|w| !ids.contains(w)) {
            let h = ids.map(|id| self.get(id, w));
            for (n, id) in ids.into_iter().enumerate().filter(|(_, id)| *id != 0) {
                let new: f64 = (0..3).map(|m| jacobian[m][n] * h[m]).sum();
                changes.push((id, w, new - h[n]));
            }
        }
        for n in 0..3 {
            for m in n..3 {
                if ids[n] != 0 && ids[m] != 0 {
                    let mut new = second[n][m];
                    for (k, row) in inside.iter().enumerate() {
                        new += row.iter().enumerate().map(|(l, h)| jacobian[k][n] * h * jacobian[l][m]).sum::<f64>();
                    }
                    changes.push((ids[n], ids[m], new - inside[n][m]));
                }
            }
        }
        changes.into_iter().for_each(|(a, b, x)| self.add(a, b, x));
    }

    /// Removes a word: its row and its column.
    pub(crate) fn remove(&mut self, id: RowId) {
        if self.row(id).is_empty() && (id == 0 || id as usize > self.rows.len()) {
            return;
        }
        for (w, _) in std::mem::take(self.row_mut(id)) {
            if w != id {
                let row = self.row_mut(w);
                if let Ok(at) = row.binary_search_by_key(&id, |e| e.0) {
                    row.remove(at);
                }
            }
        }
        self.free.push(id);
    }
}
