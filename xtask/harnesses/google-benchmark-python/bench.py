"""The ten as benchmarks of Google Benchmark, by its Python binding, which has newer versions than distributions."""

import google_benchmark as benchmark

from work import steps, work


def one(number):
    def body(state):
        while state:
            work(steps(number))

    body.__name__ = f"work_{number:02}"
    return benchmark.register(body)


for number in range(1, 11):
    one(number)

benchmark.main()
