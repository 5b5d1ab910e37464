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

/* y = x, turned, and the gradient of its product with seed. back: room for n m numbers, which are turned back; turns: for cosine and sine of each
   angle. The sum for an angle runs in eight parts, which the compiler may then put into one register. */
void unitary_gradient(double *restrict y, const double *restrict seed, const double *restrict x, double *restrict dx, double *restrict dangle,
                      double *restrict back, double *restrict turns, long n, long m, const double *restrict angle)
{
    for (long i = 0; i < n * m; i++)
        y[i] = x[i];
    const double *turn = turns;
    for (long k = 0; k < m * (m - 1) / 2; k++) {
        turns[2 * k] = cos(angle[k]);
        turns[2 * k + 1] = sin(angle[k]);
    }
    for (long j = 0; j < m - 1; j++)
        for (long i = m - 2; i >= j; i--, turn += 2) {
            const double c = turn[0], s = turn[1];
            double *restrict a = y + i * n, *restrict b = y + (i + 1) * n;
            for (long l = 0; l < n; l++) {
                const double t = a[l];
                a[l] = c * t - s * b[l];
                b[l] = s * t + c * b[l];
            }
        }
    for (long i = 0; i < n * m; i++) {
        back[i] = y[i];
        dx[i] = seed[i];
    }
    dangle += m * (m - 1) / 2;
    for (long j = m - 2; j >= 0; j--)
        for (long i = j; i < m - 1; i++) {
            turn -= 2;
            const double c = turn[0], s = turn[1];
            double *restrict a = back + i * n, *restrict b = back + (i + 1) * n, *restrict da = dx + i * n, *restrict db = dx + (i + 1) * n;
            double part[8] = {0};
            for (long l = 0; l + 8 <= n; l += 8)
                for (int q = 0; q < 8; q++)
                    part[q] += db[l + q] * a[l + q] - da[l + q] * b[l + q];
            for (long l = n / 8 * 8; l < n; l++)
                part[0] += db[l] * a[l] - da[l] * b[l];
            for (long l = 0; l < n; l++) {
                const double ta = a[l], tb = b[l], ga = da[l], gb = db[l];
                a[l] = c * ta + s * tb;
                b[l] = c * tb - s * ta;
                da[l] = c * ga + s * gb;
                db[l] = c * gb - s * ga;
            }
            *--dangle = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
        }
}
