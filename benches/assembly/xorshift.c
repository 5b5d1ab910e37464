/* Marsaglia's generator of 64 bits, as C programs step it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    uint64_t steps = strtoull(argc > 1 ? argv[1] : "1000", 0, 10), x = 88172645463325252;
    for (uint64_t i = 0; i < steps; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    printf("x = %" PRId64 "\n", (int64_t)x);
    return 0;
}
