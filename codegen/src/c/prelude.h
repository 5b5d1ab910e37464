#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t word;

/* What a function of the machine gives: a word and, above it, whether there is none. It depends on nothing but the arguments. */
typedef unsigned __int128 result;
#define WORD(r) ((int64_t)(r))
#define STATUS(r) ((int64_t)((r) >> 64))
#if defined(__GNUC__) && !defined(__clang__)
#define PURE __attribute__((const))
#define SELDOM __attribute__((noinline, unused))
#else
#define PURE
#define SELDOM
#endif
typedef result (*pure_1)(word env, word a) PURE;
typedef result (*pure_2)(word env, word a, word b) PURE;
typedef result (*pure_3)(word env, word a, word b, word c) PURE;

/* Words of memory as doubles and as integers, and what they carry. */
#define F(at) (((double *)mem)[at])
/* What turns of loops have added to results. */
#define LOGGED(at) (((double *)turned)[at])
/* Where values that are kept for the way back end, from the end of the room on, and where the next one is that is read again. */
#define KEPT turned[room - 1]
#define REREAD turned[room - 2]
/* Passes over words, or removes some. */
#define PASS(n) \
    do { \
        if (UNLIKELY((n) > REREAD - KEPT)) return 1; \
        REREAD -= (n); \
    } while (0)
#define REMOVE(n) \
    do { \
        if (UNLIKELY((n) > room - 2 - KEPT)) return 1; \
        KEPT += (n); \
    } while (0)
/* The turns of a loop. */
#define WORDS(first, last) ((last) < (first) ? 0 : (word)(last) - (word)(first) + 1)
#define KEEP(n) \
    do { \
        if (UNLIKELY((n) > KEPT - logged)) { \
            turned[room] = room + (n); \
            return 1; \
        } \
        KEPT -= (n); \
    } while (0)
#define I(at) (((int64_t *)mem)[at])
#define G_F(at) (((double *)g_mem)[at])
#define G_I(at) (((int64_t *)g_mem)[at])
#define S_F(at) (((double *)second_mem)[at])
#define S_I(at) (((int64_t *)second_mem)[at])
#define X_F(at) (((double *)mixed_mem)[at])
#define X_I(at) (((int64_t *)mixed_mem)[at])

/* Several doubles side by side: tangents along directions of their own. */
#define PARTS 8
typedef double vector __attribute__((vector_size(64), aligned(8)));
typedef int64_t integers __attribute__((vector_size(64), aligned(8)));
#define S_V(at) (((vector *)second_mem)[at])
#define X_V(at) (((vector *)mixed_mem)[at])
#define ALL(x) ((x) - (vector){0})

/* Turns of the loop that follows do not depend on each other; and they are not to be written out one after the other. */
#if defined(__clang__)
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#define ROLLED
#else
#define IVDEP _Pragma("GCC ivdep")
#define ROLLED _Pragma("GCC unroll 1")
#endif

/* What a turn of a loop adds to a number to which it adds several times. Some versions of gcc (12 is one) add other numbers where they make vectors of such turns, and
   go through memory downward. */
#if defined(LOOSE) || defined(__clang__)
#define IN_ORDER(x) (x)
#elif __GNUC__ >= 12
#define IN_ORDER(x) __builtin_assoc_barrier(x)
#else
static inline double in_order(double x)
{
    __asm__("" : "+m"(x));
    return x;
}
#define IN_ORDER(x) in_order(x)
#endif

/* A product, which is rounded before anything is subtracted from it. gcc from 12 on makes one vector of neighbours `a * b - c` and `d * e + f`,
   with one rounding for each, whatever options say of contraction. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define PRODUCT(x) __builtin_assoc_barrier(x)
#else
#define PRODUCT(x) (x)
#endif

/* Notes a number that is not finite, in the sign of `odd`: where its exponent is all ones, one more carries into the sign. */
#define CHECK(x) (odd |= (bits(x) & 0x7ff0000000000000) + 0x0010000000000000)
/* The same where a condition holds. With a choice of doubles, loops would not be vectorised. */
#define CHECK_IF(c, x) (odd |= -(int64_t)(c) & ((bits(x) & 0x7ff0000000000000) + 0x0010000000000000))
/* The same for the parts of a vector, in those of `odd_parts`. */
#define CHECK_PARTS(x) (odd_parts |= ((integers)(x) & 0x7ff0000000000000) + 0x0010000000000000)
#define CHECK_PARTS_IF(c, x) (odd_parts |= -(int64_t)(c) & (((integers)(x) & 0x7ff0000000000000) + 0x0010000000000000))
/* Notes, there, too, a number beyond 1e-8 that is to be zero: doubles without signs are in the order of their bits. */
#define NEAR_ZERO(x) (odd |= 0x3e45798ee2308c3a - (bits(x) & INT64_MAX))
/* Notes, there, too, a number of which the magnitude is above that of these bits, and what is no number. */
#define WITHIN(x, limit) (odd |= (limit) - (bits(x) & INT64_MAX))
/* Makes a magnitude the greatest that a number has had. It leaves out what is no number. */
#define PEAK(peak, x) (peak = __builtin_fabs(x) > peak ? __builtin_fabs(x) : peak)
/* The bits of a double that is at most this one, divided by a number. */
#define DIVIDED(limit, n) ((limit) - ((int64_t)(64 - __builtin_clzll((n) | 1)) << 52))
/* Whether something has been noted: whoever called runs the program again, elsewhere. */
#define NOTED (bad | (odd < 0))
/* A condition on which code gives up. Compilers that think what comes behind several of them seldom runs leave its loops as they are, and
   without a probability they think that one in ten is met. */
#if defined(__has_builtin)
#if __has_builtin(__builtin_expect_with_probability)
#define UNLIKELY(x) __builtin_expect_with_probability(!!(x), 0, 0.999)
#endif
#endif
#ifndef UNLIKELY
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#endif
/* Whether a sum, difference or product of integers wraps; it is written in any case. */
#define WRAPS(op, a, b, to) UNLIKELY(__builtin_##op##_overflow((int64_t)(a), (int64_t)(b), &(to)))
/* Gives up where an address lies outside the memory. */
#define INSIDE(at) if (UNLIKELY((word)(at) >= len)) return 1

/* Whether vectors can be taken apart. */
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define VECTORS
#endif
#endif
typedef double four __attribute__((vector_size(32)));
/* The sum of what the turns of a block add. */
static inline double sum_of_block(const double *p)
{
#ifdef VECTORS
    typedef double eight __attribute__((vector_size(64)));
    typedef double two __attribute__((vector_size(16)));
    eight v;
    memcpy(&v, p, sizeof v);
    const four a = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const two b = __builtin_shufflevector(a, a, 0, 1) + __builtin_shufflevector(a, a, 2, 3);
    return b[0] + b[1];
#else
    return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]));
#endif
}

/* For functions of which constant arguments make most of the code needless. */
#define ALWAYS inline __attribute__((always_inline))
/* Four sums side by side, and what is noted of them. */
typedef int64_t four_words __attribute__((vector_size(32)));
/* What is looked at after each addition: whether sums are finite, or within a limit. */
enum { NO_LOOK, LOOK_FINITE, LOOK_WITHIN };
static ALWAYS void add_turn(four *sums, four x, int look, four_words limits, four_words *noted)
{
    *sums += x;
    if (look == LOOK_FINITE)
        *noted |= ((four_words)*sums & 0x7ff0000000000000) + 0x0010000000000000;
    if (look == LOOK_WITHIN)
        *noted |= limits - ((four_words)*sums & INT64_MAX);
}

/* What four turns add to each of four sums: a vector for each turn, from a vector for each sum. */
static ALWAYS void four_turns(four *turns, const double *a, const double *b, const double *c, const double *d)
{
#ifdef VECTORS
    four p, q, r, s;
    memcpy(&p, a, sizeof p);
    memcpy(&q, b, sizeof q);
    memcpy(&r, c, sizeof r);
    memcpy(&s, d, sizeof s);
    const four ab = __builtin_shufflevector(p, q, 0, 4, 2, 6), ab_2 = __builtin_shufflevector(p, q, 1, 5, 3, 7);
    const four cd = __builtin_shufflevector(r, s, 0, 4, 2, 6), cd_2 = __builtin_shufflevector(r, s, 1, 5, 3, 7);
    turns[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    turns[1] = __builtin_shufflevector(ab_2, cd_2, 0, 1, 4, 5);
    turns[2] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    turns[3] = __builtin_shufflevector(ab_2, cd_2, 2, 3, 6, 7);
#else
    for (int m = 0; m < 4; m++)
        turns[m] = (four){a[m], b[m], c[m], d[m]};
#endif
}

/* Nothing to add: a number and -0 make the number. */
static const double nothing[64] = {
#define EIGHT_TIMES(x) x, x, x, x, x, x, x, x
    EIGHT_TIMES(EIGHT_TIMES(-0.0))
};

/* The most that a turn adds to a sum. */
#define ROUNDS 4
/* Adds what eight turns of a strip add to each of four sums, in the order of turns, from the last on if they go `back`: in each turn, once from each
   of some groups of four, which begin `at` the first turn. */
static ALWAYS void add_turns(four *sums, const double *const (*parts)[4], int rounds, int at, int back, int look,
    four_words limits, four_words *noted)
{
    for (int n = 0; n < 8; n += 4) {
        const int from = at + (back ? 4 - n : n);
        four turns[ROUNDS][4];
        for (int r = 0; r < rounds; r++)
            four_turns(turns[r], parts[r][0] + from, parts[r][1] + from, parts[r][2] + from, parts[r][3] + from);
        for (int m = 0; m < 4; m++)
            for (int r = 0; r < rounds; r++)
                add_turn(sums, turns[r][back ? 3 - m : m], look, limits, noted);
    }
}

static inline int64_t any_of(integers v)
{
    int64_t w = 0;
    for (int n = 0; n < PARTS; n++)
        w |= v[n];
    return w;
}

#define NONZERO(x) (any_of((integers)((x) != 0.0)) != 0)

static inline double real(int64_t w) { double x; memcpy(&x, &w, 8); return x; }
static inline int64_t bits(double x) { int64_t w; memcpy(&w, &x, 8); return w; }
static inline int64_t rol(int64_t a, int64_t n) { word w = (word)a; return (int64_t)(w << (n & 63) | w >> (-n & 63)); }
static inline int64_t ror(int64_t a, int64_t n) { return rol(a, -n); }
static inline int64_t mulhigh(int64_t a, int64_t b) { return (int64_t)(((__int128)a * b) >> 64); }
/* Kernels in C, `inline_` and their names. Only those that fail for a divisor of 0, which the caller excludes. The smallest integer by -1 wraps. */
static inline int64_t inline_int_quot(int64_t a, int64_t b) { return b == -1 ? (int64_t)(0 - (word)a) : a / b; }
static inline int64_t inline_int_rem(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }
static inline int64_t inline_int_div(int64_t a, int64_t b)
{
    const int64_t q = inline_int_quot(a, b);
    return q - (((a ^ b) < 0) & (q * b != a));
}
static inline int64_t inline_int_mod(int64_t a, int64_t b)
{
    const int64_t r = inline_int_rem(a, b);
    return r + (b & -(((r ^ b) < 0) & (r != 0)));
}
static inline int64_t inline_int_udiv(int64_t a, int64_t b) { return (int64_t)((word)a / (word)b); }
static inline int64_t inline_int_umod(int64_t a, int64_t b) { return (int64_t)((word)a % (word)b); }
static inline double canonical(double x) { return x == x ? x : real(0x7ff8000000000000); }

/* Whether a loop's addresses, from `first` on in steps of `step`, which is small, leave the memory. */
static inline int outside(int64_t first, int64_t step, word turns, word len)
{
    return (word)first >= len || turns > len || (word)(first + step * (int64_t)(turns - 1)) >= len;
}

/* The same for steps of any size, and for those up to `span` behind them. Seldom called: its text would only be in the way. */
SELDOM static int outside_by(int64_t first, word span, int64_t step, word turns, word len)
{
    int64_t way, last;
    if ((word)first >= len || span >= len - (word)first)
        return 1;
    return step != 0
        && (turns > len || __builtin_mul_overflow(step, (int64_t)(turns - 1), &way) || __builtin_add_overflow(first, way, &last)
            || (word)last >= len || span >= len - (word)last);
}

/* Whether a loop does not end at `last`, or close to where integers end. */
static inline int uneven(int64_t first, int64_t last, int64_t step)
{
    int64_t way, next;
    if (step == 0 || __builtin_sub_overflow(last, first, &way) || __builtin_add_overflow(last, step, &next))
        return 1;
    return way != 0 && (way < 0) == (step < 0) && way % step != 0;
}

/* Whether one loop as a whole goes on less far, by `by` a turn, than another in a single step. */
static inline int apart(int64_t further, int64_t by, int64_t step)
{
    const __int128 way = (__int128)further * by;
    return (way < 0 ? -way : way) < (step < 0 ? -(__int128)step : step);
}

/* Ends the lives of words: they are to be zero. */
static inline int64_t end_doubles(word *at, word n)
{
    int64_t odd = 0;
    for (word i = 0; i < n; i++) {
        NEAR_ZERO(((double *)at)[i]);
        at[i] = 0;
    }
    return odd;
}

/* Whether numbers are not all finite, in the sign. */
static inline int64_t not_finite(const word *at, word n)
{
    int64_t odd = 0;
    for (word i = 0; i < n; i++)
        CHECK(((const double *)at)[i]);
    return odd;
}

static inline int64_t end_words(word *at, word n)
{
    int64_t bad = 0;
    for (word i = 0; i < n; i++)
        bad |= at[i] != 0;
    return bad;
}

/* Where the host's stack has no more room for calls, of which a run tells. */
static _Thread_local char *limit;
#define DEEP() ((char *)__builtin_frame_address(0) < limit && (watched->deep = 1))

/* Where a run is: it tells if it is asked. A table has addresses and lengths of data. */
typedef struct { volatile word asked; word mark, first, at, last, step, deep; const int64_t *table; } watch;
static _Thread_local watch *watched;
#define DATUM(n) (watched->table[n])
SELDOM static void tell(watch *to, word mark, int64_t first, int64_t at, int64_t last, int64_t step)
{
    to->mark = mark, to->first = (word)first, to->at = (word)at, to->last = (word)last, to->step = (word)step;
    __atomic_store_n(&to->asked, 0, __ATOMIC_RELEASE);
}
#define WATCH(mark, first, at, last, step) if (UNLIKELY(watching->asked)) tell(watching, mark, first, at, last, step)

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wparentheses"
#endif
