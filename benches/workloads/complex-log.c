/* The logarithm of a complex number. */

#include <math.h>

/* y += log x; real and imaginary part */
void complex_log(double y[2], const double x[2])
{
    y[0] += log(hypot(x[0], x[1]));
    y[1] += atan2(x[1], x[0]);
}
