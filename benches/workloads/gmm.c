/* The logarithm of the likelihood of a Gaussian mixture, with a Wishart prior. */

#include <math.h>

static const double pi = 3.14159265358979323846;

static double log_sum_exp(const double *x, long n)
{
    double greatest = x[0];
    for (long i = 1; i < n; i++)
        if (x[i] > greatest)
            greatest = x[i];
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += exp(x[i] - greatest);
    return log(sum) + greatest;
}

/* log Γ of half a whole number */
static double log_gamma_half(long twice)
{
    double y = twice % 2 ? log(pi) / 2 : 0;
    for (long k = twice - 2; k > 0; k -= 2)
        y += log((double)k / 2);
    return y;
}

static double log_wishart_prior(const double *q, const double *icf, const double *sum_q, double gamma, long m, long d, long k_all)
{
    const long size = d * (d + 1) / 2, N = d + m + 1;
    double squares = 0, sums = 0;
    for (long k = 0; k < k_all; k++) {
        for (long j = 0; j < d; j++)
            squares += q[k * d + j] * q[k * d + j];
        for (long j = d; j < size; j++)
            squares += icf[k * size + j] * icf[k * size + j];
        sums += sum_q[k];
    }
    double constant = (double)(N * d) * (log(gamma) - log(2) / 2) - (double)(d * (d - 1)) * log(pi) / 4;
    for (long j = 1; j <= d; j++)
        constant -= log_gamma_half(N + 1 - j);
    return gamma * gamma * squares / 2 - (double)m * sums - (double)k_all * constant;
}

/* loss += the log-likelihood of n points x in d dimensions, columns of x, under k_all distributions: logarithmic weights alpha, means the columns of mu, and
   columns of icf, of which the first d numbers are the logarithms of a triangle's diagonal, the others what is below it by columns. */
void gmm(double *loss, const double *alpha, const double *mu, const double *icf, const double *x, long d, long k_all, long n, double gamma,
         long m)
{
    const long size = d * (d + 1) / 2;
    double q[k_all * d], sum_q[k_all], terms[k_all], dx[d], y[d];
    for (long k = 0; k < k_all; k++) {
        sum_q[k] = 0;
        for (long j = 0; j < d; j++) {
            q[k * d + j] = exp(icf[k * size + j]);
            sum_q[k] += icf[k * size + j];
        }
    }
    double sum = 0;
    for (long i = 0; i < n; i++) {
        for (long k = 0; k < k_all; k++) {
            const double *l = icf + k * size + d;
            for (long j = 0; j < d; j++) {
                dx[j] = x[i * d + j] - mu[k * d + j];
                y[j] = q[k * d + j] * dx[j];
            }
            for (long j = 0; j < d; j++)
                for (long r = j + 1; r < d; r++)
                    y[r] += *l++ * dx[j];
            double square = 0;
            for (long j = 0; j < d; j++)
                square += y[j] * y[j];
            terms[k] = alpha[k] + sum_q[k] - square / 2;
        }
        sum += log_sum_exp(terms, k_all);
    }
    sum -= (double)n * log_sum_exp(alpha, k_all);
    sum -= (double)(n * d) * log(2 * pi) / 2;
    *loss += sum + log_wishart_prior(q, icf, sum_q, gamma, m, d, k_all);
}
