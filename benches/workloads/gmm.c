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

/* x becomes weight times its softmax; returns the logarithm of the sum of exponentials. */
static double log_sum_exp_kept(double *x, long n, double weight)
{
    double greatest = x[0];
    for (long i = 1; i < n; i++)
        if (x[i] > greatest)
            greatest = x[i];
    double sum = 0;
    for (long i = 0; i < n; i++) {
        x[i] = exp(x[i] - greatest);
        sum += x[i];
    }
    for (long i = 0; i < n; i++)
        x[i] *= weight / sum;
    return log(sum) + greatest;
}

/* The log-likelihood, and its gradient, times seed, by alpha, mu and icf. */
void gmm_gradient(double *loss, const double *seed, const double *restrict alpha, const double *restrict mu, const double *restrict icf,
                  const double *restrict x, double *restrict dalpha, double *restrict dmu, double *restrict dicf, long d, long k_all, long n,
                  double gamma, long m)
{
    const long size = d * (d + 1) / 2;
    double q[k_all * d], dq[k_all * d], sum_q[k_all], terms[k_all], dx[k_all * d], y[k_all * d], of_dx[d];
    for (long k = 0; k < k_all; k++) {
        sum_q[k] = 0;
        for (long j = 0; j < d; j++) {
            q[k * d + j] = exp(icf[k * size + j]);
            sum_q[k] += icf[k * size + j];
            dq[k * d + j] = dmu[k * d + j] = 0;
        }
        for (long j = 0; j < size; j++)
            dicf[k * size + j] = 0;
        dalpha[k] = 0;
    }
    double sum = 0;
    for (long i = 0; i < n; i++) {
        for (long k = 0; k < k_all; k++) {
            const double *l = icf + k * size + d;
            double *restrict difference = dx + k * d, *restrict z = y + k * d;
            for (long j = 0; j < d; j++) {
                difference[j] = x[i * d + j] - mu[k * d + j];
                z[j] = q[k * d + j] * difference[j];
            }
            for (long j = 0; j < d; j++)
                for (long r = j + 1; r < d; r++)
                    z[r] += *l++ * difference[j];
            double square = 0;
            for (long j = 0; j < d; j++)
                square += z[j] * z[j];
            terms[k] = alpha[k] + sum_q[k] - square / 2;
        }
        sum += log_sum_exp_kept(terms, k_all, *seed);
        for (long k = 0; k < k_all; k++) {
            const double share = terms[k], *l = icf + k * size + d, *restrict difference = dx + k * d;
            double *restrict z = y + k * d, *restrict dl = dicf + k * size + d;
            dalpha[k] += share;
            for (long j = 0; j < d; j++) {
                z[j] *= -share;
                dq[k * d + j] += z[j] * difference[j];
                of_dx[j] = z[j] * q[k * d + j];
            }
            for (long j = 0; j < d; j++)
                for (long r = j + 1; r < d; r++) {
                    *dl++ += z[r] * difference[j];
                    of_dx[j] += *l++ * z[r];
                }
            for (long j = 0; j < d; j++)
                dmu[k * d + j] -= of_dx[j];
        }
    }
    for (long k = 0; k < k_all; k++)
        terms[k] = alpha[k];
    sum -= (double)n * log_sum_exp_kept(terms, k_all, *seed * (double)n);
    sum -= (double)(n * d) * log(2 * pi) / 2;
    *loss = sum + log_wishart_prior(q, icf, sum_q, gamma, m, d, k_all);
    const double prior = *seed * gamma * gamma;
    for (long k = 0; k < k_all; k++) {
        for (long j = 0; j < d; j++)
            dicf[k * size + j] = q[k * d + j] * (dq[k * d + j] + prior * q[k * d + j]) + dalpha[k] - *seed * (double)m;
        for (long j = d; j < size; j++)
            dicf[k * size + j] += prior * icf[k * size + j];
        dalpha[k] -= terms[k];
    }
}
