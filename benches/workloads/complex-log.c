/* The logarithm of a complex number. */

#include <math.h>

/* y += log x; real and imaginary part */
void complex_log(double y[2], const double x[2])
{
    y[0] += log(hypot(x[0], x[1]));
    y[1] += atan2(x[1], x[0]);
}

/* The same, and the gradient of its product with seed: with a gradient's parts as a complex number, seed over the conjugate of x. */
void complex_log_gradient(double y[2], const double seed[2], const double x[2], double dx[2])
{
    const double length = hypot(x[0], x[1]);
    const double c = x[0] / length, s = x[1] / length;
    y[0] = log(length);
    y[1] = atan2(x[1], x[0]);
    dx[0] = (seed[0] * c - seed[1] * s) / length;
    dx[1] = (seed[0] * s + seed[1] * c) / length;
}
