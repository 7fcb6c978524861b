// Ten benchmarks of the same loop with another length; with -DVARIANT_B the fourth makes 5 % more steps.
#include <benchmark/benchmark.h>

#include <cstdint>

#ifdef VARIANT_B
constexpr long kExtra = 1;
#else
constexpr long kExtra = 0;
#endif

static long Steps(int number) {
  long steps = 10000 + 2000 * number;
  return number == 4 ? steps + steps / 20 * kExtra : steps;
}

static void Work(benchmark::State& state, int number) {
  for (auto _ : state) {
    uint64_t x = 88172645463325252u;
    // The compiler may not know how long the loop is, or it could prepare for it in each variant.
    long steps = Steps(number);
    benchmark::DoNotOptimize(steps);
    for (long step = 0; step < steps; ++step) x = (x ^ (x >> 12)) * 2685821657736338717u;
    benchmark::DoNotOptimize(x);
  }
}

BENCHMARK_CAPTURE(Work, 01, 1);
BENCHMARK_CAPTURE(Work, 02, 2);
BENCHMARK_CAPTURE(Work, 03, 3);
BENCHMARK_CAPTURE(Work, 04, 4);
BENCHMARK_CAPTURE(Work, 05, 5);
BENCHMARK_CAPTURE(Work, 06, 6);
BENCHMARK_CAPTURE(Work, 07, 7);
BENCHMARK_CAPTURE(Work, 08, 8);
BENCHMARK_CAPTURE(Work, 09, 9);
BENCHMARK_CAPTURE(Work, 10, 10);
BENCHMARK_MAIN();
