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

    impl Wide for __m512d {
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn load(at: *const f64) -> Self {
            // SAFETY: as above.
            unsafe { _mm512_loadu_pd(at) }
        }

        #[inline(always)]
        unsafe fn store(self, at: *mut f64) {
            // SAFETY: as above.
            unsafe { _mm512_storeu_pd(at, self) }
        }

        #[inline(always)]
        unsafe fn all(x: f64) -> Self {
            // SAFETY: as above.
            unsafe { _mm512_set1_pd(x) }
        }

        #[inline(always)]
        unsafe fn add_product<const CONTRACT: bool>(self, a: Self, b: Self) -> Self {
            // SAFETY: as above.
            unsafe { if CONTRACT { _mm512_fmadd_pd(a, b, self) } else { _mm512_add_pd(self, _mm512_mul_pd(a, b)) } }
        }

        #[inline(always)]
        unsafe fn greater(self, of: Self) -> Self {
            // SAFETY: as above. Where the first is a NaN, the second is taken.
            unsafe { _mm512_max_pd(_mm512_abs_pd(of), self) }
        }
    }

    impl Wide for __m256d {
        const LANES: usize = 4;

        #[inline(always)]
        unsafe fn load(at: *const f64) -> Self {
            // SAFETY: as above.
            unsafe { _mm256_loadu_pd(at) }
        }

        #[inline(always)]
        unsafe fn store(self, at: *mut f64) {
            // SAFETY: as above.
            unsafe { _mm256_storeu_pd(at, self) }
        }

        #[inline(always)]
        unsafe fn all(x: f64) -> Self {
            // SAFETY: as above.
            unsafe { _mm256_set1_pd(x) }
        }

        #[inline(always)]
        unsafe fn add_product<const CONTRACT: bool>(self, a: Self, b: Self) -> Self {
            // SAFETY: as above.
            unsafe { if CONTRACT { _mm256_fmadd_pd(a, b, self) } else { _mm256_add_pd(self, _mm256_mul_pd(a, b)) } }
        }

        #[inline(always)]
        unsafe fn greater(self, of: Self) -> Self {
            // SAFETY: as above. Where the first is a NaN, the second is taken.
            unsafe { _mm256_max_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), of), self) }
        }
    }

    /// # Safety
    /// As for [`add_in`], and the processor has AVX-512.
    #[target_feature(enable = "avx512f")]
    pub(in super::super) unsafe fn add_512<const CONTRACT: bool>(sums: &Sums) -> bool {
        // SAFETY: as above.
        unsafe { add_in::<__m512d, 4>(sums, [tile_512::<CONTRACT, false>, tile_512::<CONTRACT, true>]) }
    }

    /// # Safety
    /// As for [`Factors::add_to`], and the processor has AVX-512.
    #[target_feature(enable = "avx512f")]
    unsafe fn tile_512<const CONTRACT: bool, const LIMITED: bool>(
        of: &Factors,
        x: [*mut f64; COLUMNS],
        limit: f64,
        within: (usize, usize),
    ) -> bool {
        // SAFETY: as above.
        unsafe { of.add_to::<__m512d, 4, CONTRACT, LIMITED>(x, limit, within) }
    }

    /// # Safety
    /// As for [`add_in`], and the processor has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    pub(in super::super) unsafe fn add_256<const CONTRACT: bool>(sums: &Sums) -> bool {
        // SAFETY: as above.
        unsafe { add_in::<__m256d, 2>(sums, [tile_256::<CONTRACT, false>, tile_256::<CONTRACT, true>]) }
    }

    /// # Safety
    /// As for [`Factors::add_to`], and the processor has AVX2 and FMA.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn tile_256<const CONTRACT: bool, const LIMITED: bool>(
        of: &Factors,
        x: [*mut f64; COLUMNS],
        limit: f64,
        within: (usize, usize),
    ) -> bool {
        // SAFETY: as above.
        unsafe { of.add_to::<__m256d, 2, CONTRACT, LIMITED>(x, limit, within) }
    }
}
