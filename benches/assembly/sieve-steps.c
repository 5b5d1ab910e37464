/* The steps of sieve.rasm: marks are added and taken away again, addresses and the landings of jumps are checked. */
#include "steps.h"

enum { N = 32768, ROOT = 181, AT = 1, STACK = 1 << 20 };

static int64_t mem[AT + N + STACK];
static uint64_t words = sizeof mem / sizeof *mem;

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

static int64_t sieve(int64_t mark, int64_t n, bool back) {
    int64_t p = 2, m = 0, multiple = 0, square = 0, a = 0, b = 0;
    if (back) {
        p = ROOT + 1;
        for (;;) {
            p--;
            exch(&m, AT + p);
            if (!m) {
                square += p * p;
                a += N - 1;
                a += p;
                need(p != 0);
                b += a / p;
                multiple += b * p;
                b -= a / p;
                a -= p;
                a -= N - 1;
                need(!(multiple < n));
                for (;;) {
                    multiple -= p;
                    *word(AT + multiple) -= mark;
                    if (multiple == square)
                        break;
                    need(multiple < n);
                }
                multiple -= square;
                square -= p * p;
                need(!m);
            } else
                need(m != 0);
            exch(&m, AT + p);
            if (p == 2)
                break;
            need(p != ROOT + 1);
        }
        p -= 2;
    } else {
        for (;;) {
            exch(&m, AT + p);
            if (!m) {
                square += p * p;
                multiple += square;
                need(multiple == square);
                for (;;) {
                    *word(AT + multiple) += mark;
                    multiple += p;
                    if (!(multiple < n))
                        break;
                    need(multiple != square);
                }
                a += N - 1;
                a += p;
                need(p != 0);
                b += a / p;
                multiple -= b * p;
                b -= a / p;
                a -= p;
                a -= N - 1;
                square -= p * p;
                need(!m);
            } else
                need(m != 0);
            exch(&m, AT + p);
            p++;
            if (p == ROOT + 1)
                break;
            need(p != 2);
        }
        p -= ROOT + 1;
    }
    return p + m + multiple + square + a + b;
}

static int64_t count(int64_t n) {
    int64_t p = 2, primes = 0;
    for (;;) {
        primes += *word(AT + p) == 0;
        p++;
        if (p == n)
            break;
        need(p != 2);
    }
    return primes + p - n;
}

int main(int argc, char **argv) {
    uint64_t rounds = strtoull(argc > 1 ? argv[1] : "2", 0, 10), round = 0;
    volatile int64_t start = N, one = 1;
    int64_t primes = 0, n = start, mark = one;
    for (;;) {
        primes += sieve(mark, n, false);
        primes += count(n);
        primes += sieve(mark, n, true);
        round++;
        if (round == rounds)
            break;
        need(round != 0);
    }
    printf("primes = %" PRId64 "\n", primes);
    return 0;
}
