/* The sieve of Eratosthenes, as C programs write it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 32768 };

static unsigned char composite[N];

int main(int argc, char **argv) {
    uint64_t rounds = strtoull(argc > 1 ? argv[1] : "2", 0, 10), primes = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        memset(composite, 0, sizeof composite);
        for (uint64_t p = 2; p * p < N; p++)
            if (!composite[p])
                for (uint64_t n = p * p; n < N; n += p)
                    composite[n] = 1;
        for (uint64_t p = 2; p < N; p++)
            primes += !composite[p];
    }
    printf("primes = %" PRIu64 "\n", primes);
    return 0;
}
