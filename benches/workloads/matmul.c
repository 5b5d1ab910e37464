/* A product of matrices, and the gradient of half its square. Matrices are stored by columns. */

/* A tile of the product. Its sums fit into registers. */
enum { ROWS = 32, COLUMNS = 4 };

/* c = a tile of A B. A has n rows; B's element (k, j) is b[k * next + j * across]. */
static void tile(double *restrict c, const double *restrict a, const double *restrict b, long n, long m, long next, long across)
{
    double sum[COLUMNS][ROWS] = {{0}};
    for (long k = 0; k < m; k++)
        for (int j = 0; j < COLUMNS; j++)
            for (int i = 0; i < ROWS; i++)
                sum[j][i] += a[k * n + i] * b[k * next + j * across];
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++)
            c[j * n + i] = sum[j][i];
}

/* C = A B, of n rows and l columns */
static void multiply(double *restrict c, const double *restrict a, const double *restrict b, long n, long m, long l, long next, long across)
{
    for (long j = 0; j < l; j += COLUMNS)
        for (long i = 0; i < n; i += ROWS)
            if (i + ROWS <= n && j + COLUMNS <= l)
                tile(c + j * n + i, a + i, b + j * across, n, m, next, across);
            else
                for (long y = j; y < j + COLUMNS && y < l; y++)
                    for (long x = i; x < i + ROWS && x < n; x++) {
                        double sum = 0;
                        for (long k = 0; k < m; k++)
                            sum += a[k * n + x] * b[k * next + y * across];
                        c[y * n + x] = sum;
                    }
}

static double half_square(const double *c, long count)
{
    double sum = 0;
    for (long i = 0; i < count; i++)
        sum += c[i] * c[i];
    return sum / 2;
}

/* loss += |A B|² / 2, for matrices n×m and m×l; c: room for the product */
void product(double *loss, const double *a, const double *b, double *c, long n, long m, long l)
{
    multiply(c, a, b, n, m, l, 1, m);
    *loss += half_square(c, n * l);
}

/* The same, and the gradient of seed times the result by both; turned: room for A, transposed */
void product_gradient(double *loss, const double *seed, const double *restrict a, const double *restrict b, double *restrict da,
                      double *restrict db, double *restrict c, double *restrict turned, long n, long m, long l)
{
    multiply(c, a, b, n, m, l, 1, m);
    *loss = half_square(c, n * l);
    for (long i = 0; i < n * l; i++)
        c[i] *= *seed;
    multiply(da, c, b, n, l, m, m, 1);
    for (long k = 0; k < m; k++)
        for (long i = 0; i < n; i++)
            turned[i * m + k] = a[k * n + i];
    multiply(db, turned, c, m, n, l, 1, n);
}
