/* Bessel function of the first kind, by its series, to 1e-8. */

#include <math.h>

/* out += J_order(z) */
void bessel(double *out, long order, const double *z)
{
    const double half = *z / 2;
    const double square = half * half;
    const double nu = (double)order;
    double term = 1;
    for (long i = 1; i <= order; i++)
        term *= half / (double)i;
    double sum = term;
    for (double k = 1; fabs(term) > 1e-8; k++) {
        term *= -square / (k * (k + nu));
        sum += term;
    }
    *out += sum;
}

/* The same, and the derivative by z, times seed: term k has the power order + 2 k of z. */
void bessel_gradient(double *out, const double *seed, long order, const double *z, double *dz)
{
    const double half = *z / 2;
    const double square = half * half;
    const double nu = (double)order;
    double term = 1;
    for (long i = 1; i <= order; i++)
        term *= half / (double)i;
    double sum = term, slope = nu * term;
    for (double k = 1; fabs(term) > 1e-8; k++) {
        term *= -square / (k * (k + nu));
        sum += term;
        slope += (nu + 2 * k) * term;
    }
    *out = sum;
    *dz = *z != 0 ? *seed * slope / *z : order == 1 ? *seed / 2 : 0;
}
