/* What the machine checks, for the reversible steps in C. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* A trap, unless the condition holds. */
static inline void need(bool holds) {
    if (__builtin_expect(!holds, 0))
        abort();
}
