/* How well a graph fits into k dimensions: the loss of its vertices' places. */

#include <math.h>

/* Mean and sample variance of the distances of m pairs of columns of x, k numbers each. */
static void distances(double *mean, double *variance, const double *x, long k, const long *pairs, long m)
{
    double d[m];
    double sum = 0;
    for (long i = 0; i < m; i++) {
        const double *a = x + (pairs[2 * i] - 1) * k;
        const double *b = x + (pairs[2 * i + 1] - 1) * k;
        double square = 0;
        for (long j = 0; j < k; j++)
            square += (a[j] - b[j]) * (a[j] - b[j]);
        d[i] = sqrt(square);
        sum += d[i];
    }
    *mean = sum / (double)m;
    double squares = 0;
    for (long i = 0; i < m; i++)
        squares += (d[i] - *mean) * (d[i] - *mean);
    *variance = squares / (double)(m - 1);
}

/* loss += the loss of x, k rows and a column for each vertex. Pairs of vertices, counted from 1, stand one after the other. */
void embedding(double *loss, const double *x, long k, const long *linked, long n_linked, const long *others, long n_others)
{
    double m1, m2, v1, v2;
    distances(&m1, &v1, x, k, linked, n_linked);
    distances(&m2, &v2, x, k, others, n_others);
    const double gap = m1 - m2 + 0.1;
    *loss += v1 + v2;
    if (gap > 0)
        *loss += exp(gap) - 1;
}

/* Distances d of m pairs, their mean and variance. */
static void distances_kept(double *d, double *mean, double *variance, const double *x, long k, const long *pairs, long m)
{
    double sum = 0;
    for (long i = 0; i < m; i++) {
        const double *a = x + (pairs[2 * i] - 1) * k;
        const double *b = x + (pairs[2 * i + 1] - 1) * k;
        double square = 0;
        for (long j = 0; j < k; j++)
            square += (a[j] - b[j]) * (a[j] - b[j]);
        d[i] = sqrt(square);
        sum += d[i];
    }
    *mean = sum / (double)m;
    double squares = 0;
    for (long i = 0; i < m; i++)
        squares += (d[i] - *mean) * (d[i] - *mean);
    *variance = squares / (double)(m - 1);
}

/* dx += what x gets through the mean and the variance, which have the adjoints dmean and dvariance. */
static void distances_adjoint(double *restrict dx, const double *d, double mean, double dmean, double dvariance, const double *restrict x,
                              long k, const long *pairs, long m)
{
    const double of_mean = dmean / (double)m, of_difference = 2 * dvariance / (double)(m - 1);
    for (long i = 0; i < m; i++) {
        const long a = (pairs[2 * i] - 1) * k, b = (pairs[2 * i + 1] - 1) * k;
        const double factor = (of_mean + of_difference * (d[i] - mean)) / d[i];
        for (long j = 0; j < k; j++) {
            const double move = factor * (x[a + j] - x[b + j]);
            dx[a + j] += move;
            dx[b + j] -= move;
        }
    }
}

/* The loss, and its gradient by n numbers x, times seed. */
void embedding_gradient(double *loss, const double *seed, const double *x, double *dx, long n, long k, const long *linked, long n_linked,
                        const long *others, long n_others)
{
    double d1[n_linked], d2[n_others], m1, m2, v1, v2;
    distances_kept(d1, &m1, &v1, x, k, linked, n_linked);
    distances_kept(d2, &m2, &v2, x, k, others, n_others);
    const double gap = m1 - m2 + 0.1;
    double dgap = 0;
    *loss = v1 + v2;
    if (gap > 0) {
        dgap = exp(gap);
        *loss += dgap - 1;
    }
    for (long i = 0; i < n; i++)
        dx[i] = 0;
    distances_adjoint(dx, d1, m1, *seed * dgap, *seed, x, k, linked, n_linked);
    distances_adjoint(dx, d2, m2, -*seed * dgap, *seed, x, k, others, n_others);
}
