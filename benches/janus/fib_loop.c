/* Fibonacci by a loop, as fib_loop.ja computes it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    uint64_t count = strtoull(argc > 1 ? argv[1] : "90", 0, 10), x1 = 0, x2 = 1;
    for (uint64_t i = 0; i != count; i++) {
        uint64_t sum = x1 + x2;
        x1 = x2;
        x2 = sum;
    }
    printf("x1 = %" PRIu64 "\n", x1);
    return 0;
}
