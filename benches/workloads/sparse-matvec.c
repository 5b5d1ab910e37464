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
