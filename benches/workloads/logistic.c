/* Logistic regression: the negative log-likelihood, and its gradient. */

#include <math.h>

/* The rows of a block, whose products stay in the cache. A multiple of 8. */
enum { BLOCK = 512 };

/* z = X w, for `rows` rows of a matrix of n rows and m columns, column by column. */
static void product(double *restrict z, const double *restrict x, const double *restrict w, long rows, long n, long m)
{
    for (long i = 0; i < rows; i++)
        z[i] = 0;
    for (long j = 0; j < m; j++)
        for (long i = 0; i < rows; i++)
            z[i] += x[j * n + i] * w[j];
}

/* loss += the sum of log(1 + exp(-y z)), for n observations, m numbers each */
void logistic(double *loss, const double *x, const double *w, const double *y, long n, long m)
{
    double z[BLOCK], sum = 0;
    for (long from = 0; from < n; from += BLOCK) {
        const long rows = n - from < BLOCK ? n - from : BLOCK;
        product(z, x + from, w, rows, n, m);
        for (long i = 0; i < rows; i++)
            sum += log(1 + exp(-y[from + i] * z[i]));
    }
    *loss += sum;
}

/* The same, and the gradient of seed times the result by w. A block is used twice while it is in the cache. The sums of the adjoint product run
   in eight parts, which the compiler may then put into one register. */
void logistic_gradient(double *loss, const double *seed, const double *restrict x, const double *restrict w, const double *restrict y,
                       double *restrict dw, long n, long m)
{
    double z[BLOCK], sum = 0;
    for (long j = 0; j < m; j++)
        dw[j] = 0;
    for (long from = 0; from < n; from += BLOCK) {
        const long rows = n - from < BLOCK ? n - from : BLOCK;
        product(z, x + from, w, rows, n, m);
        for (long i = 0; i < rows; i++) {
            const double e = exp(-y[from + i] * z[i]);
            sum += log(1 + e);
            z[i] = -y[from + i] * e / (1 + e);
        }
        for (long j = 0; j < m; j++) {
            const double *column = x + j * n + from;
            double part[8] = {0};
            long i = 0;
            for (; i + 8 <= rows; i += 8)
                for (int l = 0; l < 8; l++)
                    part[l] += column[i + l] * z[i + l];
            for (; i < rows; i++)
                part[0] += column[i] * z[i];
            dw[j] += ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
        }
    }
    *loss = sum;
    for (long j = 0; j < m; j++)
        dw[j] *= *seed;
}
