//! Doubles side by side, as hosts have them.

/// Doubles side by side.
pub(super) trait Wide: Copy {
    /// How many.
    const LANES: usize;

    /// # Safety
    /// There are so many doubles there, and the processor has such vectors.
    unsafe fn load(at: *const f64) -> Self;
    /// # Safety
    /// As for [`Wide::load`].
    unsafe fn store(self, at: *mut f64);
    /// # Safety
    /// The processor has such vectors.
    unsafe fn all(x: f64) -> Self;
    /// The sum of this and the product of two others.
    ///
    /// # Safety
    /// The processor has such vectors, and multiplies and adds them at once if products are contracted.
    unsafe fn add_product<const CONTRACT: bool>(self, a: Self, b: Self) -> Self;
    /// The greater one of a number that is no NaN, and the magnitude of another.
    ///
    /// # Safety
    /// The processor has such vectors.
    unsafe fn greater(self, of: Self) -> Self;
}

impl Wide for f64 {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn load(at: *const f64) -> f64 {
        // SAFETY: as above.
        unsafe { at.read() }
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut f64) {
        // SAFETY: as above.
        unsafe { at.write(self) }
    }

    #[inline(always)]
    unsafe fn all(x: f64) -> f64 {
        x
    }

    #[inline(always)]
    unsafe fn add_product<const CONTRACT: bool>(self, a: f64, b: f64) -> f64 {
        self + a * b
    }

    #[inline(always)]
    unsafe fn greater(self, of: f64) -> f64 {
        if of.abs() > self { of.abs() } else { self }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86_64 {
    //! Vectors of x86-64.

    use std::arch::x86_64::{
        __m256d, __m512d, _mm256_add_pd, _mm256_andnot_pd, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_max_pd,
        _mm256_mul_pd, _mm256_set1_pd, _mm256_storeu_pd, _mm512_abs_pd, _mm512_add_pd, _mm512_fmadd_pd,
        _mm512_loadu_pd, _mm512_max_pd, _mm512_mul_pd, _mm512_set1_pd, _mm512_storeu_pd,
    };

    use super::super::{COLUMNS, Factors, Sums, add_in};
    use super::Wide;

    macro_rules! abs_512 {
        ($x:expr) => {
            _mm512_abs_pd($x)
        };
    }

    /// Without the sign, for which there is no operation.
    macro_rules! abs_256 {
        ($x:expr) => {
            _mm256_andnot_pd(_mm256_set1_pd(-0.0), $x)
        };
    }

    /// Vectors of so many doubles, by the host's operations on them, and sums by tiles of so many of these vectors.
    macro_rules! vectors {
        ($vector:ident, $lanes:literal, $load:ident, $store:ident, $all:ident, $add:ident, $mul:ident, $mul_add:ident,
         $max:ident, $abs:ident, $features:literal, $rows:literal, $add_all:ident, $add_to_tile:ident) => {
            impl Wide for $vector {
                const LANES: usize = $lanes;

                #[inline(always)]
                unsafe fn load(at: *const f64) -> Self {
                    // SAFETY: as above.
                    unsafe { $load(at) }
                }

                #[inline(always)]
                unsafe fn store(self, at: *mut f64) {
                    // SAFETY: as above.
                    unsafe { $store(at, self) }
                }

                #[inline(always)]
                unsafe fn all(x: f64) -> Self {
                    // SAFETY: as above.
                    unsafe { $all(x) }
                }

                #[inline(always)]
                unsafe fn add_product<const CONTRACT: bool>(self, a: Self, b: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { if CONTRACT { $mul_add(a, b, self) } else { $add(self, $mul(a, b)) } }
                }

                #[inline(always)]
                unsafe fn greater(self, of: Self) -> Self {
                    // SAFETY: as above. Where the first is a NaN, the second is taken.
                    unsafe { $max($abs!(of), self) }
                }
            }

            /// # Safety
            /// As for [`add_in`], and the processor has these vectors.
            #[target_feature(enable = $features)]
            pub(in super::super) unsafe fn $add_all<const CONTRACT: bool>(sums: &Sums) -> bool {
                // SAFETY: as above.
                unsafe {
                    add_in::<$vector, $rows>(sums, [$add_to_tile::<CONTRACT, false>, $add_to_tile::<CONTRACT, true>])
                }
            }

            /// # Safety
            /// As for [`Factors::add_to`], and the processor has these vectors.
            #[target_feature(enable = $features)]
            unsafe fn $add_to_tile<const CONTRACT: bool, const LIMITED: bool>(
                of: &Factors,
                x: [*mut f64; COLUMNS],
                limit: f64,
                within: (usize, usize),
            ) -> bool {
                // SAFETY: as above.
                unsafe { of.add_to::<$vector, $rows, CONTRACT, LIMITED>(x, limit, within) }
            }
        };
    }

    vectors!(
        __m512d,
        8,
        _mm512_loadu_pd,
        _mm512_storeu_pd,
        _mm512_set1_pd,
        _mm512_add_pd,
        _mm512_mul_pd,
        _mm512_fmadd_pd,
        _mm512_max_pd,
        abs_512,
        "avx512f",
        4,
        add_512,
        tile_512
    );
    vectors!(
        __m256d,
        4,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_set1_pd,
        _mm256_add_pd,
        _mm256_mul_pd,
        _mm256_fmadd_pd,
        _mm256_max_pd,
        abs_256,
        "avx2,fma",
        2,
        add_256,
        tile_256
    );
}
