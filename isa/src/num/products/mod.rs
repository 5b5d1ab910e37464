//! Sums of products, `X[p, q] += Y[p, r] * Z[r, q]`, tile by tile in registers, for compiled code. Each word of X gets its products one after the
//! other, as loops would make them, so that it gets the same bits.

#![expect(unsafe_code, reason = "compiled code says where words are, and vectors are loaded from there")]

#[cfg(test)]
mod tests;
mod vectors;

use vectors::Wide;
#[cfg(target_arch = "x86_64")]
use vectors::x86_64;

/// The sum has been made.
pub const DONE: u64 = 0;
/// It has been made, and something is to be noted: a number is not finite, or beyond the limit.
pub const NOTED: u64 = 1;
/// Nothing has been done: the loops are to be run. There are few products, or words lie outside the memory, or where others are.
pub const NOT_DONE: u64 = 2;

/// Products are subtracted.
pub const SUBTRACT: u64 = 1;
/// A product and a sum may be rounded once.
pub const CONTRACT: u64 = 2;
/// Sums are looked at for being finite.
pub const FINITE: u64 = 4;

/// How compiled code tells what is to be added up. Steps and addresses count words.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Sums {
    /// The memories with the words of X, Y and Z.
    memories: [*mut f64; 3],
    /// Where the first words are.
    first: [i64; 3],
    /// From row to row: of X and Y.
    rows: [i64; 2],
    /// From column to column: of X and Z.
    columns: [i64; 2],
    /// From product to product: of Y and Z.
    products: [i64; 2],
    /// How many rows, columns, and products of each word there are.
    counts: [u64; 3],
    /// What is to be done: [`SUBTRACT`] and so on.
    flags: u64,
    /// The bits of the greatest magnitude that is not noted; 0 if there is no limit.
    limit: u64,
}

/// The number of words of a [`Sums`].
pub const WORDS: usize = size_of::<Sums>() / 8;

/// Fewer products than these are left to loops.
const FEW: u128 = 512;

/// The columns of a tile.
const COLUMNS: usize = 4;

/// The products of a word that are made at a time: so many columns of Y lie in the first cache.
const DEPTH: usize = 128;

/// The most rows of a tile.
const MOST_ROWS: usize = 32;

/// Makes sums one after the other, or none. No sum changes what another one reads or changes.
///
/// # Safety
/// There are `n` of them, of memories of `len` words, which nothing else accesses.
pub unsafe extern "C" fn add_products(all: *const Sums, n: u64, len: u64) -> u64 {
    // SAFETY: as above.
    let all = unsafe { std::slice::from_raw_parts(all, n as usize) };
    if !all.iter().all(|sums| sums.can_be_made(len)) {
        return NOT_DONE;
    }
    // SAFETY: all words lie in the memories.
    let noted = all.iter().fold(false, |noted, sums| noted | unsafe { add(sums.with_rows_in_order()) });
    if noted { NOTED } else { DONE }
}

/// Where words lie that are gone through with two steps: the first and the last.
fn extent(first: i64, steps: [(i64, u64); 2]) -> [i128; 2] {
    let mut out = [i128::from(first); 2];
    for (step, count) in steps {
        let way = i128::from(step) * (i128::from(count) - 1);
        out[usize::from(way > 0)] += way;
    }
    out
}

impl Sums {
    /// Whether all words lie in the memory, those of X are different ones and no words of Y and Z, and there are enough of them.
    fn can_be_made(&self, len: u64) -> bool {
        let [p, q, r] = self.counts;
        // So that nothing wraps.
        if [p, q, r].iter().any(|count| *count == 0 || *count > len)
            || u128::from(p) * u128::from(q) * u128::from(r) < FEW
        {
            return false;
        }
        let steps = [
            [(self.rows[0], p), (self.columns[0], q)],
            [(self.rows[1], p), (self.products[0], r)],
            [(self.products[1], r), (self.columns[1], q)],
        ];
        let [x, y, z] = [0, 1, 2].map(|n| extent(self.first[n], steps[n]));
        let inside = |[from, to]: [i128; 2]| from >= 0 && to < i128::from(len);
        let apart = |n: usize, [from, to]: [i128; 2]| self.memories[n] != self.memories[0] || to < x[0] || from > x[1];
        let way = |step: i64, count: u64| i128::from(step).abs() * (i128::from(count) - 1);
        let [down, across] = [self.rows[0], self.columns[0]];
        let different = (down != 0 || p == 1)
            && (across != 0 || q == 1)
            && (p == 1 || q == 1 || way(down, p) < i128::from(across).abs() || way(across, q) < i128::from(down).abs());
        [x, y, z].into_iter().all(inside) && apart(1, y) && apart(2, z) && different
    }

    /// The same with rows of X that follow each other in memory, if rows or columns do.
    fn with_rows_in_order(self) -> Sums {
        let mut out = self;
        if out.rows[0].abs() != 1 && out.columns[0].abs() == 1 {
            let Sums {
                memories: [x, y, z], first: [at_x, at_y, at_z], rows, columns, products, counts: [p, q, r], ..
            } = self;
            out.memories = [x, z, y];
            out.first = [at_x, at_z, at_y];
            (out.rows, out.columns) = (columns, rows);
            out.products = [products[1], products[0]];
            out.counts = [q, p, r];
        }
        if out.rows[0] == -1 {
            let further = out.counts[0].cast_signed() - 1;
            out.first[0] -= further;
            out.first[1] += out.rows[1] * further;
            out.rows = [1, -out.rows[1]];
        }
        out
    }

    /// The address of a word of X, Y or Z.
    ///
    /// # Safety
    /// It lies in the memory.
    unsafe fn at(&self, n: usize, further: i64) -> *mut f64 {
        // SAFETY: as above.
        unsafe { self.memories[n].offset((self.first[n] + further) as isize) }
    }
}

/// Makes a sum; whether something is to be noted.
///
/// # Safety
/// All words lie in the memories, which nothing else accesses.
unsafe fn add(sums: Sums) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let contract = sums.flags & CONTRACT != 0;
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: as above.
            return unsafe { if contract { x86_64::add_512::<true>(&sums) } else { x86_64::add_512::<false>(&sums) } };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: as above.
            return unsafe { if contract { x86_64::add_256::<true>(&sums) } else { x86_64::add_256::<false>(&sums) } };
        }
    }
    // SAFETY: as above. Compilers make vectors of it.
    unsafe { add_in::<f64, 4>(&sums, [scalar::<false>, scalar::<true>]) }
}

/// Rows of Y, as many for each product as a tile has. Vectors of them lie in one line of the cache.
#[repr(align(64))]
struct Rows([f64; DEPTH * MOST_ROWS]);

/// Adds products to the columns of a tile: [`Factors::add_to`], without a limit or with one.
///
/// # Safety
/// As for that.
type AddToTile = unsafe fn(&Factors, [*mut f64; COLUMNS], f64, (usize, usize)) -> bool;

/// # Safety
/// As for [`Factors::add_to`].
unsafe fn scalar<const LIMITED: bool>(
    of: &Factors,
    x: [*mut f64; COLUMNS],
    limit: f64,
    within: (usize, usize),
) -> bool {
    // SAFETY: as above.
    unsafe { of.add_to::<f64, 4, false, LIMITED>(x, limit, within) }
}

/// A tile of X.
type Tile = [[f64; MOST_ROWS]; COLUMNS];

/// Makes a sum by tiles of so many vectors; whether something is to be noted.
///
/// # Safety
/// As for [`add`], and the processor has such vectors.
#[inline(always)]
unsafe fn add_in<W: Wide, const VECTORS: usize>(sums: &Sums, tiles: [AddToTile; 2]) -> bool {
    let rows = VECTORS * W::LANES;
    let [p, q, r] = sums.counts.map(|count| count as usize);
    let sign = if sums.flags & SUBTRACT != 0 { -1.0 } else { 1.0 };
    let finite = sums.flags & FINITE != 0;
    // SAFETY: as above.
    let limit = (sums.limit != 0 && !unsafe { sums.stays_within() }).then(|| f64::from_bits(sums.limit));
    let mut y = Rows([0.0; DEPTH * MOST_ROWS]);
    let mut tile: Tile = [[0.0; MOST_ROWS]; COLUMNS];
    let mut noted = false;
    for top in (0..p).step_by(rows) {
        let here = rows.min(p - top);
        for from in (0..r).step_by(DEPTH) {
            let depth = DEPTH.min(r - from);
            // SAFETY: as above.
            unsafe { sums.copy_rows(&mut y.0, (top, here, rows), (from, depth)) };
            for left in (0..q).step_by(COLUMNS) {
                let wide = COLUMNS.min(q - left);
                let at = |row: usize, column: usize| {
                    (top + row) as i64 * sums.rows[0] + (left + column) as i64 * sums.columns[0]
                };
                // Columns beyond the last one are made of the first one, and forgotten.
                let z: [*const f64; COLUMNS] = std::array::from_fn(|j| {
                    let column = left + if j < wide { j } else { 0 };
                    // SAFETY: as above.
                    unsafe { sums.at(2, from as i64 * sums.products[1] + column as i64 * sums.columns[1]).cast_const() }
                });
                let copies = here < rows || wide < COLUMNS || sums.rows[0] != 1;
                let mut x: [*mut f64; COLUMNS] = tile.each_mut().map(|column| column.as_mut_ptr());
                for (column, to) in x.iter_mut().enumerate().take(wide) {
                    if !copies {
                        // SAFETY: as above.
                        *to = unsafe { sums.at(0, at(0, column)) };
                    } else {
                        for row in 0..here {
                            // SAFETY: as above; there are so many rows in a tile.
                            unsafe { *to.add(row) = *sums.at(0, at(row, column)) };
                        }
                    }
                }
                let of = Factors { y: y.0.as_ptr(), z, step: sums.products[1], depth, sign };
                // SAFETY: there are so many words where columns begin, and so many factors.
                noted |= unsafe { tiles[usize::from(limit.is_some())](&of, x, limit.unwrap_or(0.0), (here, wide)) };
                for (column, to) in x.iter().enumerate().take(wide) {
                    if finite {
                        // SAFETY: as above.
                        noted |= (0..here).fold(false, |odd, row| odd | unsafe { !(*to.add(row)).is_finite() });
                    }
                    if copies {
                        for row in 0..here {
                            // SAFETY: as above.
                            unsafe { *sums.at(0, at(row, column)) = *to.add(row) };
                        }
                    }
                }
            }
        }
    }
    noted
}

/// The factors of the products of a tile.
struct Factors {
    /// Rows of Y, as many for each product as a tile has.
    y: *const f64,
    /// Columns of Z.
    z: [*const f64; COLUMNS],
    /// From product to product of Z.
    step: i64,
    /// How many products there are of each word.
    depth: usize,
    /// What the products are multiplied by: 1 or -1.
    sign: f64,
}

impl Factors {
    /// Adds the products to the columns of a tile; whether a partial sum is beyond a limit, if there is one, among so many rows and columns.
    ///
    /// # Safety
    /// There are as many words as a tile has, and as many factors; the processor has such vectors.
    #[inline(always)]
    unsafe fn add_to<W: Wide, const VECTORS: usize, const CONTRACT: bool, const LIMITED: bool>(
        &self,
        x: [*mut f64; COLUMNS],
        limit: f64,
        (here, wide): (usize, usize),
    ) -> bool {
        // SAFETY: as above.
        unsafe {
            // Loops, as closures would not have the vectors of their function.
            let zero = W::all(0.0);
            let mut sum = [[zero; VECTORS]; COLUMNS];
            let mut greatest = [[zero; VECTORS]; COLUMNS];
            for (sum, x) in sum.iter_mut().zip(x) {
                for (v, sum) in sum.iter_mut().enumerate() {
                    *sum = W::load(x.add(v * W::LANES));
                }
            }
            for k in 0..self.depth {
                let mut row = [zero; VECTORS];
                for (v, row) in row.iter_mut().enumerate() {
                    *row = W::load(self.y.add((k * VECTORS + v) * W::LANES));
                }
                for j in 0..COLUMNS {
                    let factor = W::all(self.sign * *self.z[j].offset(k as isize * self.step as isize));
                    for v in 0..VECTORS {
                        sum[j][v] = sum[j][v].add_product::<CONTRACT>(row[v], factor);
                        if LIMITED {
                            greatest[j][v] = greatest[j][v].greater(sum[j][v]);
                        }
                    }
                }
            }
            let mut beyond = false;
            for (j, column) in x.into_iter().enumerate() {
                for (v, sum) in sum[j].iter().enumerate() {
                    sum.store(column.add(v * W::LANES));
                }
                if LIMITED && j < wide {
                    let mut most = [0.0; MOST_ROWS];
                    for (v, greatest) in greatest[j].iter().enumerate() {
                        greatest.store(most.as_mut_ptr().add(v * W::LANES));
                    }
                    for (row, most) in most.iter().enumerate().take(here) {
                        // A sum that is no number stays so.
                        beyond |= *most > limit || (*column.add(row)).is_nan();
                    }
                }
            }
            beyond
        }
    }
}

impl Sums {
    /// Copies rows of Y, as many for each product as a tile has.
    ///
    /// # Safety
    /// As for [`add`].
    #[inline(always)]
    unsafe fn copy_rows(
        &self,
        to: &mut [f64; DEPTH * MOST_ROWS],
        (top, here, rows): (usize, usize, usize),
        (from, depth): (usize, usize),
    ) {
        let at = |row: usize, k: usize| (top + row) as i64 * self.rows[1] + (from + k) as i64 * self.products[0];
        if here < rows {
            to[..depth * rows].fill(0.0);
        }
        if self.rows[1] == 1 {
            for (k, to) in to.chunks_exact_mut(rows).take(depth).enumerate() {
                // SAFETY: as above.
                to[..here].copy_from_slice(unsafe { std::slice::from_raw_parts(self.at(1, at(0, k)), here) });
            }
        } else {
            for row in 0..here {
                for k in 0..depth {
                    // SAFETY: as above.
                    to[k * rows + row] = unsafe { *self.at(1, at(row, k)) };
                }
            }
        }
    }

    /// Whether no partial sum can be beyond the limit, because no number is large enough.
    ///
    /// # Safety
    /// As for [`add`].
    #[inline(always)]
    unsafe fn stays_within(&self) -> bool {
        let [p, q, r] = self.counts;
        // SAFETY: as above.
        let [x, y, z] = unsafe {
            [
                self.greatest(0, [(self.rows[0], p), (self.columns[0], q)]),
                self.greatest(1, [(self.rows[1], p), (self.products[0], r)]),
                self.greatest(2, [(self.products[1], r), (self.columns[1], q)]),
            ]
        };
        // A little more, for what is rounded. False if there is a number that is not finite.
        (x + r as f64 * y * z) * 1.001 <= f64::from_bits(self.limit)
    }

    /// The greatest magnitude of the words of X, Y or Z.
    ///
    /// # Safety
    /// As for [`add`].
    #[inline(always)]
    unsafe fn greatest(&self, n: usize, mut steps: [(i64, u64); 2]) -> f64 {
        if steps[0].0.abs() != 1 {
            steps.swap(0, 1);
        }
        let [(inner, along), (outer, times)] = steps;
        let mut most = 0;
        // Without signs, doubles are in the order of their bits.
        let bits = |x: f64| x.to_bits() & (u64::MAX >> 1);
        for k in 0..times as i64 {
            if inner.abs() == 1 {
                let first = k * outer + if inner < 0 { 1 - along as i64 } else { 0 };
                // SAFETY: as above.
                let words = unsafe { std::slice::from_raw_parts(self.at(n, first), along as usize) };
                most = words.iter().fold(most, |most, x| most.max(bits(*x)));
            } else {
                for i in 0..along as i64 {
                    // SAFETY: as above.
                    most = most.max(bits(unsafe { *self.at(n, k * outer + i * inner) }));
                }
            }
        }
        f64::from_bits(most)
    }
}
