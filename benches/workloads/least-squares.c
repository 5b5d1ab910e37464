/* Linear least squares: half the square of the residual, and its gradient. */

/* The rows of a block, whose residual stays in the cache. A multiple of 8. */
enum { BLOCK = 512 };

/* r = A x - b, for `rows` rows of a matrix of n rows and m columns, column by column. */
static void residual(double *restrict r, const double *restrict a, const double *restrict x, const double *restrict b, long rows, long n,
                     long m)
{
    for (long i = 0; i < rows; i++)
        r[i] = -b[i];
    for (long j = 0; j < m; j++)
        for (long i = 0; i < rows; i++)
            r[i] += a[j * n + i] * x[j];
}

/* loss += |A x - b|² / 2 */
void least_squares(double *loss, const double *a, const double *x, const double *b, long n, long m)
{
    double r[BLOCK], sum = 0;
    for (long from = 0; from < n; from += BLOCK) {
        const long rows = n - from < BLOCK ? n - from : BLOCK;
        residual(r, a + from, x, b + from, rows, n, m);
        for (long i = 0; i < rows; i++)
            sum += r[i] * r[i];
    }
    *loss += sum / 2;
}

/* The same, and the gradient of seed times the result by x. A block is used twice while it is in the cache. The sums of the adjoint product run
   in eight parts, which the compiler may then put into one register. */
void least_squares_gradient(double *loss, const double *seed, const double *restrict a, const double *restrict x, const double *restrict b,
                            double *restrict dx, long n, long m)
{
    double r[BLOCK], sum = 0;
    for (long j = 0; j < m; j++)
        dx[j] = 0;
    for (long from = 0; from < n; from += BLOCK) {
        const long rows = n - from < BLOCK ? n - from : BLOCK;
        residual(r, a + from, x, b + from, rows, n, m);
        for (long i = 0; i < rows; i++)
            sum += r[i] * r[i];
        for (long j = 0; j < m; j++) {
            const double *column = a + j * n + from;
            double part[8] = {0};
            long i = 0;
            for (; i + 8 <= rows; i += 8)
                for (int l = 0; l < 8; l++)
                    part[l] += column[i + l] * r[i + l];
            for (; i < rows; i++)
                part[0] += column[i] * r[i];
            dx[j] += ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
        }
    }
    *loss = sum / 2;
    for (long j = 0; j < m; j++)
        dx[j] *= *seed;
}
