/* Vectors times a unitary matrix that is made of rotations. */

#include <math.h>

/* x has n rows and m columns, column by column. Columns i and i + 1 are turned by the next of m (m - 1)/2 angles. */
void unitary(double *restrict x, long n, long m, const double *restrict angle)
{
    for (long j = 0; j < m - 1; j++)
        for (long i = m - 2; i >= j; i--) {
            const double c = cos(*angle), s = sin(*angle);
            double *restrict a = x + i * n, *restrict b = x + (i + 1) * n;
            for (long l = 0; l < n; l++) {
                const double t = a[l];
                a[l] = c * t - s * b[l];
                b[l] = s * t + c * b[l];
            }
            angle++;
        }
}
