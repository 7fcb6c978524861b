/* One piece of work per call, by its number; with -DVARIANT_B the fourth makes 5 % more steps. */
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int number = argc > 1 ? atoi(argv[1]) : 1;
  long steps = 3000000 + 200000L * number;
#ifdef VARIANT_B
  if (number == 4) steps += steps / 20;
#endif
  uint64_t x = 88172645463325252u;
  for (long step = 0; step < steps; ++step) x = (x ^ (x >> 12)) * 2685821657736338717u;
  return x == 0;
}
