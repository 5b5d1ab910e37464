/* Products of matrices in fixed point, as C programs write them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 48 };

static int64_t a[N][N], b[N][N], c[N][N];

int main(int argc, char **argv) {
    uint64_t rounds = strtoull(argc > 1 ? argv[1] : "2", 0, 10);
    for (uint64_t n = 0; n < N * N; n++) {
        a[n / N][n % N] = (int64_t)(n * 0x9E3779B97F4A7C15 >> 33);
        b[n / N][n % N] = (int64_t)(2 * n * 0x9E3779B97F4A7C15 >> 33) - (1 << 30);
    }
    for (uint64_t round = 0; round < rounds; round++)
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++)
                for (int j = 0; j < N; j++)
                    c[i][j] += (int64_t)((__int128)a[i][k] * b[k][j] >> 32);
    int64_t sum = 0;
    for (int n = 0; n < N * N; n++)
        sum += c[n / N][n % N];
    printf("sum = %.10f\n", (double)sum / 4294967296.0);
    return 0;
}
