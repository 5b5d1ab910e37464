/* The length of a vector. */

#include <math.h>

/* square += x·x, then norm += its root */
void norm(double *norm, double *square, const double *x, long n)
{
    double sum = *square;
    for (long i = 0; i < n; i++)
        sum += x[i] * x[i];
    *square = sum;
    *norm += sqrt(sum);
}

/* The same, and the gradient of the length, times seed. */
void norm_gradient(double *norm, const double *seed, const double *restrict x, double *restrict dx, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += x[i] * x[i];
    *norm = sqrt(sum);
    const double factor = *seed / *norm;
    for (long i = 0; i < n; i++)
        dx[i] = factor * x[i];
}
