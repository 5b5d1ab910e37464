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

/* The loss, and its gradient by n numbers x, times seed; distances and their means are kept. Gives the derivative by the gap of means, times seed. */
static inline double loss_and_gradient(double *loss, double seed, const double *x, double *dx, long n, long k, const long *linked, long n_linked,
                                       const long *others, long n_others, double *d1, double *d2, double *m1, double *m2)
{
    double v1, v2;
    distances_kept(d1, m1, &v1, x, k, linked, n_linked);
    distances_kept(d2, m2, &v2, x, k, others, n_others);
    const double gap = *m1 - *m2 + 0.1;
    double dgap = 0;
    *loss = v1 + v2;
    if (gap > 0) {
        dgap = exp(gap);
        *loss += dgap - 1;
    }
    dgap *= seed;
    for (long i = 0; i < n; i++)
        dx[i] = 0;
    distances_adjoint(dx, d1, *m1, dgap, seed, x, k, linked, n_linked);
    distances_adjoint(dx, d2, *m2, -dgap, seed, x, k, others, n_others);
    return dgap;
}

/* The loss, and its gradient by n numbers x, times seed. */
void embedding_gradient(double *loss, const double *seed, const double *x, double *dx, long n, long k, const long *linked, long n_linked,
                        const long *others, long n_others)
{
    double d1[n_linked], d2[n_others], m1, m2;
    loss_and_gradient(loss, *seed, x, dx, n, k, linked, n_linked, others, n_others, d1, d2, &m1, &m2);
}

/* h += the second derivatives of what mean and variance, which have the adjoints dmean and dvariance, get through each distance; slope: the
   derivative of the distances' sum. */
static void distances_twice(double *restrict h, double *restrict slope, const double *d, double mean, double dmean, double dvariance,
                            const double *restrict x, long n, long k, const long *pairs, long m)
{
    const double of_mean = dmean / (double)m, of_difference = 2 * dvariance / (double)(m - 1);
    double unit[k];
    for (long i = 0; i < n; i++)
        slope[i] = 0;
    for (long i = 0; i < m; i++) {
        const long a = (pairs[2 * i] - 1) * k, b = (pairs[2 * i + 1] - 1) * k;
        const double inverse = 1 / d[i];
        const double across = (of_mean + of_difference * (d[i] - mean)) * inverse, along = of_difference - across;
        for (long j = 0; j < k; j++) {
            unit[j] = (x[a + j] - x[b + j]) * inverse;
            slope[a + j] += unit[j];
            slope[b + j] -= unit[j];
        }
        for (long p = 0; p < k; p++) {
            double *ha = h + (a + p) * n, *hb = h + (b + p) * n;
            const double factor = along * unit[p];
            for (long q = 0; q < k; q++) {
                const double part = factor * unit[q];
                ha[a + q] += part;
                ha[b + q] -= part;
                hb[a + q] -= part;
                hb[b + q] += part;
            }
            ha[a + p] += across;
            ha[b + p] -= across;
            hb[a + p] -= across;
            hb[b + p] += across;
        }
    }
}

/* The loss, its gradient by n numbers x, and its n × n second derivatives, each times seed. */
void embedding_hessian(double *loss, const double *seed, const double *x, double *dx, double *h, long n, long k, const long *linked,
                       long n_linked, const long *others, long n_others)
{
    double d1[n_linked], d2[n_others], s1[n], s2[n], m1, m2;
    const double dgap = loss_and_gradient(loss, *seed, x, dx, n, k, linked, n_linked, others, n_others, d1, d2, &m1, &m2);
    for (long i = 0; i < n * n; i++)
        h[i] = 0;
    distances_twice(h, s1, d1, m1, dgap, *seed, x, n, k, linked, n_linked);
    distances_twice(h, s2, d2, m2, -dgap, *seed, x, n, k, others, n_others);
    /* Means couple all pairs: their distances in the variances, and the two means in the exponential. */
    const double k1 = 2 * *seed / ((double)n_linked * (double)(n_linked - 1)), k2 = 2 * *seed / ((double)n_others * (double)(n_others - 1));
    for (long i = 0; i < n; i++) {
        const double g = dgap * (s1[i] / (double)n_linked - s2[i] / (double)n_others);
        const double f1 = g / (double)n_linked - k1 * s1[i], f2 = -g / (double)n_others - k2 * s2[i];
        for (long j = 0; j < n; j++)
            h[i * n + j] += f1 * s1[j] + f2 * s2[j];
    }
}
