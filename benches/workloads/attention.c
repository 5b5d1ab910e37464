/* A head of attention, and the gradient of half the square of its output. Matrices are stored by columns; each token is a column of d numbers. */

#include <math.h>

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

/* to, n×m = the transpose of a, m×n */
static void transpose(double *restrict to, const double *restrict a, long m, long n)
{
    for (long j = 0; j < m; j++)
        for (long i = 0; i < n; i++)
            to[j * n + i] = a[i * m + j];
}

/* x becomes its softmax, for n numbers */
static void softmax(double *x, long n)
{
    double most = x[0], sum = 0;
    for (long i = 1; i < n; i++)
        if (x[i] > most)
            most = x[i];
    for (long i = 0; i < n; i++) {
        x[i] = exp(x[i] - most);
        sum += x[i];
    }
    for (long i = 0; i < n; i++)
        x[i] /= sum;
}

/* What is made in between: scaled queries, d×n; a transposed matrix, n×d; shares, n×n; output, d×n; adjoints of shares, n×n. */
struct room {
    double *q, *turned, *p, *o, *dp;
};

static struct room divide(double *room, long d, long n)
{
    return (struct room){room, room + d * n, room + 2 * d * n, room + 2 * d * n + n * n, room + 3 * d * n + n * n};
}

/* The output, and what it is made from. */
static void forward(struct room r, const double *q, const double *k, const double *v, long d, long n)
{
    const double scale = 1 / sqrt((double)d);
    for (long i = 0; i < d * n; i++)
        r.q[i] = q[i] * scale;
    transpose(r.turned, k, d, n);
    multiply(r.p, r.turned, r.q, n, d, n, 1, d);
    for (long j = 0; j < n; j++)
        softmax(r.p + j * n, n);
    multiply(r.o, v, r.p, d, n, n, 1, n);
}

/* loss += half the square of the output, for n tokens of d numbers; room: 3 d n + 2 n n numbers in between */
void attention(double *loss, const double *q, const double *k, const double *v, double *room, long d, long n)
{
    const struct room r = divide(room, d, n);
    forward(r, q, k, v, d, n);
    *loss += half_square(r.o, d * n);
}

/* The same, and the gradient of seed times the result. */
void attention_gradient(double *loss, const double *seed, const double *restrict q, const double *restrict k, const double *restrict v,
                        double *restrict dq, double *restrict dk, double *restrict dv, double *room, long d, long n)
{
    const struct room r = divide(room, d, n);
    const double scale = 1 / sqrt((double)d);
    forward(r, q, k, v, d, n);
    *loss = half_square(r.o, d * n);
    for (long i = 0; i < d * n; i++)
        r.o[i] *= *seed;
    multiply(dv, r.o, r.p, d, n, n, n, 1);
    transpose(r.turned, v, d, n);
    multiply(r.dp, r.turned, r.o, n, d, n, 1, d);
    for (long j = 0; j < n; j++) {
        double *restrict p = r.p + j * n, *restrict dp = r.dp + j * n, mean = 0;
        for (long i = 0; i < n; i++)
            mean += p[i] * dp[i];
        for (long i = 0; i < n; i++)
            dp[i] = p[i] * (dp[i] - mean);
    }
    multiply(dq, k, r.dp, d, n, n, 1, n);
    for (long i = 0; i < d * n; i++)
        dq[i] *= scale;
    multiply(dk, r.q, r.dp, d, n, n, n, 1);
}
