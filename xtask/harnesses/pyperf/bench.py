"""The ten as benchmarks of pyperf."""

import pyperf

from work import steps, work

runner = pyperf.Runner()
for number in range(1, 11):
    runner.bench_func(f"work_{number:02}", work, steps(number))
