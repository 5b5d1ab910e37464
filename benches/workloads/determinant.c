/* A determinant, by minors of the first row. Matrices are stored by columns. */

#include <string.h>

/* The minor without the first row and column j */
static void without(double *restrict minor, const double *restrict a, long n, long j)
{
    for (long c = 0; c < n - 1; c++)
        memcpy(minor + c * (n - 1), a + (c < j ? c : c + 1) * n + 1, (n - 1) * sizeof(double));
}

/* det += the determinant of a, which is n×n; room for all minors of a row of calls */
void determinant(double *det, const double *a, double *room, long n)
{
    if (n == 1) {
        *det += a[0];
        return;
    }
    for (long j = 0; j < n; j++) {
        double d = 0;
        without(room, a, n, j);
        determinant(&d, room, room + (n - 1) * (n - 1), n - 1);
        *det += (j % 2 ? -1 : 1) * a[j * n] * d;
    }
}

/* The same, and da += seed times its gradient: of a minor from its determinant's, as that is needed in any case. */
static double both(double seed, const double *a, double *da, double *room, long n)
{
    if (n == 1) {
        da[0] += seed;
        return a[0];
    }
    const long m = n - 1;
    double sum = 0, *minor = room, *dminor = room + m * m;
    for (long j = 0; j < n; j++) {
        const double sign = j % 2 ? -1 : 1;
        without(minor, a, n, j);
        memset(dminor, 0, m * m * sizeof(double));
        const double d = both(seed * sign * a[j * n], minor, dminor, room + 2 * m * m, m);
        sum += sign * a[j * n] * d;
        da[j * n] += seed * sign * d;
        for (long c = 0; c < m; c++)
            for (long r = 0; r < m; r++)
                da[(c < j ? c : c + 1) * n + r + 1] += dminor[c * m + r];
    }
    return sum;
}

/* The determinant, and the gradient of seed times it. */
void determinant_gradient(double *det, const double *seed, const double *a, double *da, double *room, long n)
{
    memset(da, 0, n * n * sizeof(double));
    *det = both(*seed, a, da, room, n);
}
