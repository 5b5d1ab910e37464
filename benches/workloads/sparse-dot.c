/* Scalar product of two sparse matrices of m rows and n columns, in compressed columns; indices count from 1. */

/* r += sum of a[i,j] b[i,j], by merging columns */
void sparse_dot_merge(double *r, long n, const long *colptr_a, const long *rowval_a, const double *nzval_a, const long *colptr_b,
                      const long *rowval_b, const double *nzval_b)
{
    double sum = *r;
    for (long j = 0; j < n; j++) {
        long p = colptr_a[j] - 1, q = colptr_b[j] - 1;
        const long p_end = colptr_a[j + 1] - 1, q_end = colptr_b[j + 1] - 1;
        while (p < p_end && q < q_end) {
            const long row_a = rowval_a[p], row_b = rowval_b[q];
            if (row_a == row_b)
                sum += nzval_a[p++] * nzval_b[q++];
            else if (row_a < row_b)
                p++;
            else
                q++;
        }
    }
    *r = sum;
}

/* The same by spreading a column of the one over `column`, m zeros, in which the other looks up. */
void sparse_dot_spread(double *r, double *restrict column, long n, const long *colptr_a, const long *rowval_a, const double *nzval_a,
                       const long *colptr_b, const long *rowval_b, const double *nzval_b)
{
    double sum = *r;
    for (long j = 0; j < n; j++) {
        for (long k = colptr_a[j] - 1; k < colptr_a[j + 1] - 1; k++)
            column[rowval_a[k] - 1] = nzval_a[k];
        for (long k = colptr_b[j] - 1; k < colptr_b[j + 1] - 1; k++)
            sum += column[rowval_b[k] - 1] * nzval_b[k];
        for (long k = colptr_a[j] - 1; k < colptr_a[j + 1] - 1; k++)
            column[rowval_a[k] - 1] = 0;
    }
    *r = sum;
}

/* The same, and the gradient of r by the entries of both, times seed: those of the other at the same places. A column of each is spread. */
void sparse_dot_gradient(double *r, const double *seed, double *restrict column_a, double *restrict column_b, long n, const long *colptr_a,
                         const long *rowval_a, const double *restrict nzval_a, const long *colptr_b, const long *rowval_b,
                         const double *restrict nzval_b, double *restrict da, double *restrict db)
{
    const double weight = *seed;
    double sum = 0;
    for (long j = 0; j < n; j++) {
        const long a = colptr_a[j] - 1, a_end = colptr_a[j + 1] - 1, b = colptr_b[j] - 1, b_end = colptr_b[j + 1] - 1;
        for (long k = a; k < a_end; k++)
            column_a[rowval_a[k] - 1] = nzval_a[k];
        for (long k = b; k < b_end; k++) {
            const double other = column_a[rowval_b[k] - 1];
            sum += other * nzval_b[k];
            db[k] = weight * other;
            column_b[rowval_b[k] - 1] = nzval_b[k];
        }
        for (long k = a; k < a_end; k++) {
            da[k] = weight * column_b[rowval_a[k] - 1];
            column_a[rowval_a[k] - 1] = 0;
        }
        for (long k = b; k < b_end; k++)
            column_b[rowval_b[k] - 1] = 0;
    }
    *r = sum;
}
