// Ten benchmarks of the same loop with another length; with -DVARIANT_B the fourth makes 5 % more steps.
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#ifdef VARIANT_B
constexpr long kExtra = 1;
#else
constexpr long kExtra = 0;
#endif

static long Steps(int number) {
  long steps = 10000 + 2000 * number;
  return number == 4 ? steps + steps / 20 * kExtra : steps;
}

static uint64_t Work(long steps) {
  uint64_t x = 88172645463325252u;
  // The compiler may not know how long the loop is.
  asm volatile("" : "+r"(steps));
  for (long step = 0; step < steps; ++step) x = (x ^ (x >> 12)) * 2685821657736338717u;
  return x;
}

TEST_CASE("work") {
  for (int number = 1; number <= 10; ++number) {
    std::string name = "work_" + std::string(number < 10 ? "0" : "") + std::to_string(number);
    long steps = Steps(number);
    BENCHMARK(std::move(name)) { return Work(steps); };
  }
}
