/* A sparse matrix of complex numbers, in compressed columns, times a vector. Indices count from 1, and a complex number is its real and its
   imaginary part. */

/* y += A x, for n columns */
void sparse_matvec(double *restrict y, long n, const long *colptr, const long *rowval, const double *nzval, const double *x)
{
    for (long j = 0; j < n; j++) {
        const double re = x[2 * j], im = x[2 * j + 1];
        for (long k = colptr[j] - 1; k < colptr[j + 1] - 1; k++) {
            const double *a = nzval + 2 * k;
            double *to = y + 2 * (rowval[k] - 1);
            to[0] += a[0] * re - a[1] * im;
            to[1] += a[0] * im + a[1] * re;
        }
    }
}

/* The product with x, m complex numbers, and the gradient of its product with seed by the entries and by x. The matrix is read once. */
void sparse_matvec_gradient(double *restrict y, const double *restrict seed, long m, long n, const long *colptr, const long *rowval,
                            const double *restrict nzval, const double *restrict x, double *restrict da, double *restrict dx)
{
    for (long i = 0; i < 2 * m; i++)
        y[i] = 0;
    for (long j = 0; j < n; j++) {
        const double re = x[2 * j], im = x[2 * j + 1];
        double sum_re = 0, sum_im = 0;
        for (long k = colptr[j] - 1; k < colptr[j + 1] - 1; k++) {
            const double *a = nzval + 2 * k, *s = seed + 2 * (rowval[k] - 1);
            double *to = y + 2 * (rowval[k] - 1);
            to[0] += a[0] * re - a[1] * im;
            to[1] += a[0] * im + a[1] * re;
            da[2 * k] = s[0] * re + s[1] * im;
            da[2 * k + 1] = s[1] * re - s[0] * im;
            sum_re += a[0] * s[0] + a[1] * s[1];
            sum_im += a[0] * s[1] - a[1] * s[0];
        }
        dx[2 * j] = sum_re;
        dx[2 * j + 1] = sum_im;
    }
}
