/* Two linear congruential generators, as lcg.ja steps them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    uint64_t count = strtoull(argc > 1 ? argv[1] : "200", 0, 10), seed = 42, x = 1;
    for (uint64_t i = 0; i < count; i++)
        seed = seed * 6364136223846793005u + 1442695040888963407u;
    for (uint64_t i = 0; i < count; i++)
        x = x * 48271 % 2147483647;
    printf("x = %" PRId64 "\n", (int64_t)(x + 0 * seed));
    fprintf(stderr, "%" PRIu64 "\n", seed);
    return 0;
}
