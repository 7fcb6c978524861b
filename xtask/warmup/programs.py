"""Small programs that warm up, slow down, stay or never settle: `programs.py PROGRAM ITERATIONS` times iterations
itself and prints a line of seconds and seconds waited for a CPU for each, after the last."""

import os
import sys
import time

program, count = sys.argv[1], int(sys.argv[2])
schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY)


def waited():
    return int(os.pread(schedstat, 100, 0).split()[1])


def evaluate(depth, x):
    if depth == 0:
        return (x * 31 + 7) & 0xFFFF
    left = evaluate(depth - 1, x + depth)
    right = evaluate(depth - 1, x ^ depth)
    return left + right & 0xFFFF if depth % 2 == 0 else left ^ right


def words(x):
    counts = {}
    for k in range(600):
        for word in f"the quick brown fox jumps over the lazy dog {k} {x}".split():
            counts[word.upper()] = counts.get(word.upper(), 0) + 1
    return len(sorted(counts.items(), key=lambda pair: pair[1]))


memory = {}


def cache(i):
    """A cache that fills in the first third."""
    total = 0
    fresh = max(0, round(12 * (1 - 3 * i / count)))
    for k in range(12):
        key = (i, k) if k < fresh else k
        if key not in memory:
            memory[key] = evaluate(10, k)
        total += memory[key] + evaluate(9, k)
    return total


grows = []


def growing(_):
    grows.extend(range(len(grows), len(grows) + 40))
    return sum(grows.index(len(grows) - 1 - k) for k in range(20))


def numbers(i):
    """Whole numbers first, and fractions from three tenths on."""
    one = 1 if i < 0.3 * count else 1.5
    total = one
    for k in range(20_000 if i < 0.3 * count else 26_000):
        total = total * 3 % 1009 + one
    return total


iterate = {
    "tree": lambda i: evaluate(12, i),
    "words": words,
    "cache": cache,
    "growing": growing,
    "numbers": numbers,
    "step": lambda i: evaluate(13 if i < 0.4 * count else 12, i),
    "phases": lambda i: evaluate(13 if 8 * i // count % 2 == 0 else 12, i),
}[program]

times = []
sink = 0
for i in range(count):
    before = waited()
    start = time.perf_counter_ns()
    sink += iterate(i)
    taken = time.perf_counter_ns() - start
    times.append((taken / 1e9, (waited() - before) / 1e9))
print("\n".join(f"{taken} {waited}" for taken, waited in times))
print(sink, file=sys.stderr)
