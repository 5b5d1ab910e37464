/* The steps of xorshift.rasm: nothing is overwritten, and the landing of the loop's jump is checked. */
#include "steps.h"

int main(int argc, char **argv) {
    uint64_t steps = strtoull(argc > 1 ? argv[1] : "1000", 0, 10), x = 88172645463325252;
    uint64_t t = 0, i = 0;
    for (;;) {
        t ^= x << 13;
        x ^= t;
        t ^= x << 13;
        t ^= x << 26;
        t ^= x << 39;
        t ^= x << 52;
        t ^= x >> 7;
        x ^= t;
        t ^= x >> 7;
        t ^= x >> 14;
        t ^= x >> 21;
        t ^= x >> 28;
        t ^= x >> 35;
        t ^= x >> 42;
        t ^= x >> 49;
        t ^= x >> 56;
        t ^= x >> 63;
        t ^= x << 17;
        x ^= t;
        t ^= x << 17;
        t ^= x << 34;
        t ^= x << 51;
        i++;
        if (i == steps)
            break;
        need(i != 0);
    }
    i -= steps;
    printf("x = %" PRId64 "\n", (int64_t)(x + i + t));
    return 0;
}
