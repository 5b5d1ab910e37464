/* The logarithm of a sum of exponentials, and its gradient. */

#include <math.h>

static double greatest(const double *x, long n)
{
    /* Eight at a time: the comparisons do not wait for each other. */
    double most[8];
    for (int l = 0; l < 8; l++)
        most[l] = x[0];
    long i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            most[l] = x[i + l] > most[l] ? x[i + l] : most[l];
    for (; i < n; i++)
        most[0] = x[i] > most[0] ? x[i] : most[0];
    for (int l = 1; l < 8; l++)
        most[0] = most[l] > most[0] ? most[l] : most[0];
    return most[0];
}

/* loss += log of the sum of exp x */
void log_sum_exp(double *loss, const double *x, long n)
{
    const double most = greatest(x, n);
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += exp(x[i] - most);
    *loss += log(sum) + most;
}

/* The same, and the gradient of seed times the result. The exponentials are kept where the gradient goes. */
void log_sum_exp_gradient(double *loss, const double *seed, const double *x, double *restrict dx, long n)
{
    const double most = greatest(x, n);
    double sum = 0;
    for (long i = 0; i < n; i++) {
        dx[i] = exp(x[i] - most);
        sum += dx[i];
    }
    *loss = log(sum) + most;
    const double factor = *seed / sum;
    for (long i = 0; i < n; i++)
        dx[i] *= factor;
}
