/* TEA, 64-bit blocks, as tea.ja enciphers them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void tea(uint32_t v[2], const uint32_t k[4]) {
    uint32_t sum = 0;
    for (int round = 1; round <= 32; round++) {
        sum += 0x9E3779B9;
        v[0] += ((v[1] << 4) + k[0]) ^ (v[1] + sum) ^ ((v[1] >> 5) + k[1]);
        v[1] += ((v[0] << 4) + k[2]) ^ (v[0] + sum) ^ ((v[0] >> 5) + k[3]);
    }
}

int main(int argc, char **argv) {
    uint64_t blocks = strtoull(argc > 1 ? argv[1] : "5", 0, 10);
    uint32_t key[4] = {0x00112233, 0x44556677, 0x8899AABB, 0xCCDDEEFF}, text[2] = {0x01234567, 0x89ABCDEF};
    for (uint64_t i = 0; i < blocks; i++)
        tea(text, key);
    printf("text[2] = {%" PRIu32 ", %" PRIu32 "}\n", text[0], text[1]);
    return 0;
}
