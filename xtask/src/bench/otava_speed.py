"""Times Apache Otava on the series of a JSON file: name, whole series, one value appended, in ms."""

import json
import sys
import time

from otava.analysis import compute_change_points


def best(work, times):
    least = float("inf")
    for _ in range(times):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
    return least * 1e3


with open(sys.argv[1]) as file:
    for name, values in json.load(file).items():
        times = 20 if len(values) <= 1000 else 5
        whole = best(lambda: compute_change_points(list(values)), times)
        _, weak = compute_change_points(list(values[:-1]))
        appended = best(lambda: compute_change_points(list(values), new_data=1, old_weak_cp=list(weak)), times)
        print(name, whole, appended, sep="\t")
