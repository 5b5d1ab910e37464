/* The steps of matmul.rasm: words are lifted and put back; addresses, the landings of jumps and overflow are checked. */
#include "steps.h"

enum { N = 48, A = 1, B = A + N * N, C = B + N * N, STACK = 1 << 20 };

static int64_t mem[C + N * N + STACK];
static uint64_t words = sizeof mem / sizeof *mem;
static bool overflow;

/* A word of memory. */
static inline int64_t *word(uint64_t at) {
    need(at < words);
    return &mem[at];
}

/* Exchanges a register with a word of memory. */
static inline void exch(int64_t *reg, uint64_t at) {
    int64_t *m = word(at), old = *m;
    *m = *reg;
    *reg = old;
}

/* Adds a product of fixed-point numbers, rounded down; notes where product or sum wraps. */
static inline void addmul(int64_t *y, int64_t a, int64_t b) {
    __int128 product = (__int128)a * b >> 32;
    if (__builtin_expect(product != (int64_t)product, 0))
        overflow = true;
    if (__builtin_expect(__builtin_add_overflow(*y, (int64_t)product, y), 0))
        overflow = true;
}

int main(int argc, char **argv) {
    uint64_t rounds = strtoull(argc > 1 ? argv[1] : "2", 0, 10), round = 0;
    for (uint64_t n = 0; n < N * N; n++) {
        mem[A + n] = (int64_t)(n * 0x9E3779B97F4A7C15 >> 33);
        mem[B + n] = (int64_t)(2 * n * 0x9E3779B97F4A7C15 >> 33) - (1 << 30);
    }
    uint64_t i = 0, j = 0, k = 0, r4 = 0, r5 = 0, r6 = 0;
    int64_t r7 = 0, r8 = 0;
    for (;;) {
        need(i == 0);
        for (;;) {
            need(k == 0);
            for (;;) {
                exch(&r7, A + r4);
                need(j == 0);
                for (;;) {
                    exch(&r8, B + r5);
                    addmul(word(C + r6), r7, r8);
                    exch(&r8, B + r5);
                    r5++;
                    r6++;
                    j++;
                    if (j == N)
                        break;
                    need(j != 0);
                }
                j -= N;
                exch(&r7, A + r4);
                r4++;
                r6 -= N;
                k++;
                if (k == N)
                    break;
                need(k != 0);
            }
            k -= N;
            r5 -= N * N;
            r6 += N;
            i++;
            if (i == N)
                break;
            need(i != 0);
        }
        i -= N;
        r4 -= N * N;
        r6 -= N * N;
        round++;
        if (round == rounds)
            break;
        need(round != 0);
    }
    int64_t sum = 0;
    for (uint64_t n = 0; n < N * N; n++)
        sum += *word(C + n);
    printf("sum = %.10f\n", (double)sum / 4294967296.0);
    return overflow;
}
