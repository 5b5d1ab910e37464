/* In-place products with a matrix given by its factors, as matmul.ja makes them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4, COLS = 3 };
/* Not static: the compiler must not take their values for known. */
int64_t m[N][N] = {{0, 1, 0, 0}, {-1, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, -1, 0}};
int64_t x[N][COLS] = {{1, 0, 2}, {0, 1, -1}, {3, 1, 0}, {-2, 5, 1}};

static void add(int64_t *y, int64_t f, const int64_t *from) {
    for (int c = 0; c < COLS; c++)
        y[c] = (int64_t)((uint64_t)y[c] + (uint64_t)f * (uint64_t)from[c]);
}

int main(int argc, char **argv) {
    uint64_t rounds = strtoull(argc > 1 ? argv[1] : "3", 0, 10);
    for (uint64_t r = 0; r < rounds; r++) {
        for (int i = 0; i < N - 1; i++)
            for (int k = i + 1; k < N; k++)
                add(x[i], m[i][k], x[k]);
        for (int i = N - 1; i > 0; i--)
            for (int k = 0; k < i; k++)
                add(x[i], m[i][k], x[k]);
    }
    printf("x[%d][%d] = {", N, COLS);
    for (int i = 0; i < N; i++) {
        printf("%s{", i ? ", " : "");
        for (int c = 0; c < COLS; c++)
            printf("%s%" PRId64, c ? ", " : "", x[i][c]);
        printf("}");
    }
    printf("}\n");
    return 0;
}
