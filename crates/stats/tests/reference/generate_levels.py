"""Writes the reference values for crates/stats/src/levels, by other routes than the crate takes.

    python3 -m venv venv && venv/bin/pip install numpy scipy
    venv/bin/python generate_levels.py

Components: with P(k) the projection on the means of the nodes of depth k and Z(j) the design of level j, SS(k) = y' (P(k) -
P(k-1)) y and E SS(k) = sum over j of variance(j) trace((P(k) - P(k-1)) Z(j) Z(j)'). The crate has closed sums over group sizes
instead of matrices.

Plans: every whole number up to a limit for every level, t quantiles by SciPy. The crate searches;
it may need one repetition more or fewer.
"""

import itertools
import json
import pathlib

import numpy as np
import scipy
from scipy import stats

HERE = pathlib.Path(__file__).parent
VERSIONS = f"NumPy {np.__version__}, SciPy {scipy.__version__}"


def write(name, by, tolerance, why, cases):
    head = {"by": f"{by}; {VERSIONS}", "tolerance": tolerance, "why": why}
    lines = ",\n".join("  " + json.dumps(case, default=float) for case in cases)
    text = json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + lines + "\n ]\n}\n"
    (HERE / f"{name}.json").write_text(text)


def design(labels):
    labels = np.asarray(labels)
    return (labels[:, None] == np.unique(labels)[None, :]).astype(float)


def components(y, groups):
    n = len(y)
    depths = [np.zeros(n, int)] + [np.asarray(g) for g in groups] + [np.arange(n)]
    z = [design(d) for d in depths]
    p = [a @ np.linalg.inv(a.T @ a) @ a.T for a in z]
    levels = range(1, len(depths))
    squares = np.array([y @ (p[k] - p[k - 1]) @ y for k in levels])
    expected = np.array([[np.trace((p[k] - p[k - 1]) @ z[j] @ z[j].T) for j in levels] for k in levels])
    return np.linalg.solve(expected, squares)


def component_cases():
    rng = np.random.default_rng(20261121)
    shapes = [
        [[4, 4, 4], [4, 4, 4], [4, 4, 4]],
        [[3, 1], [5], [2, 2, 7]],
        [[1, 1, 2], [1, 3], [2, 2], [6, 1, 1, 1]],
        [[10, 12, 9, 11], [10, 10, 8]],
    ]
    for shape in shapes:
        values, rounds, runs, run = [], [], [], 0
        for r, sizes in enumerate(shape):
            a = 0.5 * rng.normal()
            for size in sizes:
                b = a + 0.3 * rng.normal()
                values += list(b + rng.normal(size=size))
                rounds += [r] * size
                runs += [run] * size
                run += 1
        y = np.array(values)
        for groups in ([rounds, runs], [rounds], [runs]):
            yield {"values": values, "groups": groups, "variances": list(components(y, groups))}


def variance(levels, counts):
    total, repetitions = 0.0, 1
    for (v, _), count in zip(levels, counts):
        repetitions *= count
        total += v / repetitions
    return total


def seconds(levels, counts):
    total, repetitions = 0.0, 1
    for (_, c), count in zip(levels, counts):
        repetitions *= count
        total += c * repetitions
    return total


def is_enough(goal, v, n):
    """v is the variance of the mean of n repetitions of the highest level."""
    return stats.t.ppf(0.975, n - 1) * np.sqrt(v) <= goal["precision"]


def fewest(levels, goal, inside):
    for n in range(5, 5000):
        if is_enough(goal, variance(levels, (n, *inside)), n):
            return n
    return None


def plan_cases():
    one = [(0.03**2, 1.0)]
    two = [(0.02**2, 0.5), (0.06**2, 0.01)]
    three = [(0.01**2, 20.0), (0.02**2, 0.5), (0.05**2, 0.02)]
    for levels, most in ((one, ()), (two, (120,)), (three, (12, 60))):
        for goal in ({"precision": 0.01}, {"precision": 0.004}):
            best = None
            for inside in itertools.product(*(range(1, m + 1) for m in most)):
                # The standard error alone says how many are needed at least.
                v = variance(levels, (1, *inside))
                low = max(5, int(v * (1.96 / goal["precision"]) ** 2 * 0.5))
                if best and seconds(levels, (low, *inside)) >= best[0]:
                    continue
                n = fewest(levels, goal, inside)
                if n and (best is None or seconds(levels, (n, *inside)) < best[0]):
                    best = (seconds(levels, (n, *inside)), [n, *inside])
            yield {"levels": levels, "goal": goal, "seconds": best[0], "counts": best[1]}


write(
    "components",
    "projection matrices",
    1e-9,
    "inverses and traces of matrices of up to 70 rows",
    component_cases(),
)
write(
    "plans",
    "every whole number",
    0.03,
    "the crate goes in steps of a tenth above 40",
    plan_cases(),
)
