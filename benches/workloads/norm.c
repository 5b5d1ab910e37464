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
