/* The objective of clustering by the nearest centre, and its gradient. */

/* Which of k_all numbers is the least. */
static long least(const double *square, long k_all)
{
    long best = 0;
    double smallest = square[0];
    for (long k = 1; k < k_all; k++) {
        best = square[k] < smallest ? k : best;
        smallest = square[k] < smallest ? square[k] : smallest;
    }
    return best;
}

/* The squares of a point's distances to all centres. By coordinate, the centres lie side by side, so that the inner loop is over them. */
static void squares(double *restrict square, const double *restrict point, const double *restrict by_coordinate, long d, long k_all)
{
    for (long k = 0; k < k_all; k++)
        square[k] = 0;
    for (long j = 0; j < d; j++)
        for (long k = 0; k < k_all; k++) {
            const double difference = point[j] - by_coordinate[j * k_all + k];
            square[k] += difference * difference;
        }
}

static void transpose(double *restrict by_coordinate, const double *restrict centres, long d, long k_all)
{
    for (long k = 0; k < k_all; k++)
        for (long j = 0; j < d; j++)
            by_coordinate[j * k_all + k] = centres[k * d + j];
}

/* loss += the sum of the squares of the distances of n points to the nearest of k_all centres, d numbers each. */
void k_means(double *loss, const double *points, const double *centres, long d, long n, long k_all)
{
    double by_coordinate[d * k_all], square[k_all];
    transpose(by_coordinate, centres, d, k_all);
    double sum = 0;
    for (long i = 0; i < n; i++) {
        squares(square, points + i * d, by_coordinate, d, k_all);
        sum += square[least(square, k_all)];
    }
    *loss += sum;
}

/* The same, and the gradient of seed times the result by the centres. */
void k_means_gradient(double *loss, const double *seed, const double *restrict points, const double *restrict centres,
                      double *restrict dcentres, long d, long n, long k_all)
{
    double by_coordinate[d * k_all], square[k_all];
    transpose(by_coordinate, centres, d, k_all);
    for (long j = 0; j < d * k_all; j++)
        dcentres[j] = 0;
    double sum = 0;
    for (long i = 0; i < n; i++) {
        squares(square, points + i * d, by_coordinate, d, k_all);
        const long k = least(square, k_all);
        sum += square[k];
        for (long j = 0; j < d; j++)
            dcentres[k * d + j] += centres[k * d + j] - points[i * d + j];
    }
    *loss = sum;
    for (long j = 0; j < d * k_all; j++)
        dcentres[j] *= 2 * *seed;
}
