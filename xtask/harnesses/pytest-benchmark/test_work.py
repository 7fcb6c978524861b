"""The ten as benchmarks of pytest-benchmark."""

import pytest

from work import steps, work


@pytest.mark.parametrize("number", range(1, 11))
def test_work(benchmark, number):
    benchmark(work, steps(number))
