/* The worker of `becalm timeit` for C and C++: the statement that lies beside it, in a loop that is timed.
 *
 *     worker calibrate MIN_NANOSECONDS      doubles the loops until a value takes so long
 *     worker run LOOPS WARMUPS VALUES       times values of so many loops
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Makes the compiler believe that a value is used, so that it has to be computed. */
#define becalm_use(value) \
    do { \
        __typeof__(value) becalm_value = (value); \
        __asm__ volatile("" : : "r,m"(becalm_value) : "memory"); \
    } while (0)

/* Makes the compiler believe that a variable has changed, so that what follows from it is computed anew. */
#define becalm_change(variable) __asm__ volatile("" : "+r,m"(variable) : : "memory")

#include "global"

static uint64_t becalm_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

__attribute__((noinline)) static uint64_t becalm_measure(uint64_t becalm_loops) {
#include "setup"
    ;
    uint64_t becalm_start = becalm_now();
    for (; becalm_loops > 0; becalm_loops--) {
#include "statement"
        ;
        /* Keeps the compiler from removing the loop, or making one of several rounds of it. */
        __asm__ volatile("" : : : "memory");
    }
    uint64_t becalm_end = becalm_now();
#include "teardown"
    ;
    return becalm_end - becalm_start;
}

static void becalm_list(FILE *results, const char *name, uint64_t loops, uint64_t count) {
    fprintf(results, ", \"%s\": [", name);
    for (uint64_t i = 0; i < count; i++) {
        fprintf(results, "%s%" PRIu64, i > 0 ? ", " : "", becalm_measure(loops));
    }
    fputs("]", results);
}

int main(int count, char **arguments) {
    const uint64_t most_loops = (uint64_t)1 << 32;
    uint64_t numbers[3] = {1, 0, 0};
    /* What the statement prints must not come between the results. */
    FILE *results = fdopen(dup(1), "w");
    if (results == NULL || dup2(open("/dev/null", O_WRONLY), 1) < 0) return 2;
    for (int i = 2; i < count && i < 5; i++) numbers[i - 2] = strtoull(arguments[i], NULL, 10);
    if (count > 1 && strcmp(arguments[1], "calibrate") == 0) {
        uint64_t loops = 1, value;
        fputs("{\"raw\": [", results);
        while ((value = becalm_measure(loops)) < numbers[0] && loops < most_loops) {
            fprintf(results, "[%" PRIu64 ", %" PRIu64 "], ", loops, value);
            loops *= 2;
        }
        fprintf(results, "[%" PRIu64 ", %" PRIu64 "]], \"loops\": %" PRIu64 "}\n", loops, value, loops);
    } else {
        fprintf(results, "{\"loops\": %" PRIu64, numbers[0]);
        becalm_list(results, "warmups", numbers[0], numbers[1]);
        becalm_list(results, "values", numbers[0], numbers[2]);
        fputs("}\n", results);
    }
    return fclose(results) == 0 ? 0 : 2;
}
