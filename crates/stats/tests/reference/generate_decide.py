"""Writes decide.json: the decision rule by another road.

The local-level fit is done with dense matrices and NumPy's solver, where the crate uses a tridiagonal one; Student's
quantiles and the two-sample trimmed t come from SciPy.

    python3 -m venv venv && venv/bin/pip install numpy scipy
    venv/bin/python generate_decide.py
"""

import json
import pathlib
import sys

import numpy as np
import scipy
from scipy import stats

NU, PENALTY, ITERATIONS, SCALE, INFLATION = 5.0, 1.0, 8, 1.1, 1.05


def spread(errors):
    absolute = np.sort(np.abs(errors))
    n = len(absolute)
    scale = max(1.4826 * np.median(absolute), 0.5 * absolute[int(np.floor(0.75 * (n - 1) + 0.5))] / 1.1503)
    if scale <= 1e-3 * np.sqrt(np.mean(errors**2)):
        scale = 1.2533 * absolute.mean()
    return scale


def fit(baseline, candidate, candidate_first, pace=None):
    n = len(baseline)
    y, z, x = np.empty(2 * n), np.empty(2 * n), np.zeros(2 * n)
    for i in range(n):
        pair = [(baseline[i], -0.5, 0), (candidate[i], 0.5, 1)]
        if candidate_first[i]:
            pair.reverse()
        for j in range(2):
            y[2 * i + j], z[2 * i + j] = pair[j][:2]
            if pace is not None:
                x[2 * i + j] = pace[i][pair[j][2]]
    size = 2 * n
    laplacian = 2.0 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)
    laplacian[0, 0] = laplacian[-1, -1] = 1.0
    tau = np.median(np.array(candidate) - np.array(baseline))
    u = np.pad(y - tau * z, 2, mode="reflect")
    level = np.array([np.median(u[j : j + 5]) for j in range(size)])
    beta, gamma, taken = 0.0, 0.0, 0
    for _ in range(ITERATIONS):
        errors = y - level - tau * z - beta * x
        scale = max(SCALE * spread(errors), 1e-7)
        weights = np.diag((NU + 1) / (NU + (errors / scale) ** 2))
        matrix = weights + PENALTY * laplacian
        py = weights @ (y - np.linalg.solve(matrix, weights @ y))
        pz = weights @ (z - np.linalg.solve(matrix, weights @ z))
        px = weights @ (x - np.linalg.solve(matrix, weights @ x))
        tau = (z @ py) / (z @ pz)
        if pace is not None:
            normal = np.array([[z @ pz, z @ px], [x @ pz, x @ px]])
            tau, beta = np.linalg.solve(normal, [z @ py, x @ py])
            gamma, taken = (x @ pz) / (x @ px), 1
            if not 0.0 < beta < 1.0:
                beta, gamma = min(max(beta, 0.0), 1.0), 0.0
                tau = (z @ (py - beta * px)) / (z @ pz)
        about = x - np.linalg.solve(matrix, weights @ x)
        level = np.linalg.solve(matrix, weights @ (y - tau * z - beta * x))
    errors = y - level - tau * z - beta * x
    z = z - gamma * about
    scores = z * (py - tau * pz - beta * px)
    # HC2: a round that tells much of the pace lies too close to the fit.
    told = about * px
    leverage = (told[0::2] + told[1::2]) / told.sum() if gamma else np.zeros(n)
    variance = np.sum((scores[0::2] + scores[1::2]) ** 2 / (1 - np.clip(leverage, 0, 0.5)))
    square = (errors / scale) ** 2
    raw = (NU + 1) * (NU - square) / (NU + square) ** 2
    kept = np.diag(np.maximum(raw, 0.02))
    slope = z @ kept @ (z - np.linalg.solve(kept + PENALTY * laplacian, kept @ z))
    slope *= max(raw.sum() / np.trace(kept), 0.3)
    return tau, np.sqrt(INFLATION * variance * n / (n - 2.5 - taken)) / slope, n - 2 - taken


def paired_case(rng, n, noise):
    level = {
        "independent": np.zeros(2 * n),
        "walk": np.cumsum(rng.normal(0, 0.005, 2 * n)),
        "step": np.where(np.arange(2 * n) > n, 0.1, 0.0),
        "spikes": np.where(rng.random(2 * n) < 0.1, 0.5, 0.0),
    }[noise]
    y = level + rng.normal(0, 0.01, 2 * n)
    first = rng.random(n) < 0.5
    baseline = np.where(first, y[1::2], y[0::2])
    candidate = np.where(first, y[0::2], y[1::2]) + 0.01
    tau, error, df = fit(baseline, candidate, first)
    half = stats.t.ppf(0.975, df) * error
    low, high = tau - half, tau + half
    if n < 8:
        ratios = candidate - baseline
        low, high = min(low, ratios.min()), max(high, ratios.max())
    return {
        "noise": noise, "baseline": baseline.tolist(), "candidate": candidate.tolist(),
        "candidate_first": [bool(x) for x in first], "centre": tau, "low": low, "high": high,
    }


def paced_case(rng, n, share, noise):
    """Runs on a core whose other half is in use for some share of each run."""
    x = -12.0 + 0.5 * rng.beta(0.5, 0.5, 2 * n)
    y = share * x + rng.normal(0, noise, 2 * n)
    first = rng.random(n) < 0.5
    baseline = np.where(first, y[1::2], y[0::2])
    candidate = np.where(first, y[0::2], y[1::2]) + 0.01
    pace = np.stack([np.where(first, x[1::2], x[0::2]), np.where(first, x[0::2], x[1::2])], 1)
    tau, error, df = fit(baseline, candidate, first, pace)
    half = stats.t.ppf(0.975, df) * error
    return {
        "noise": f"pace, {share}", "baseline": baseline.tolist(), "candidate": candidate.tolist(),
        "candidate_first": [bool(x) for x in first], "pace": pace.tolist(),
        "centre": tau, "low": tau - half, "high": tau + half,
    }


def unpaired_case(rng, n, m):
    a, b = rng.normal(0, 0.02, n), rng.normal(0.01, 0.03, m)
    test = stats.ttest_ind(b, a, equal_var=False, trim=0.2)
    centre = stats.trim_mean(b, 0.2) - stats.trim_mean(a, 0.2)
    half = stats.t.ppf(0.975, test.df) * abs(centre / test.statistic)
    return {"a": a.tolist(), "b": b.tolist(), "centre": centre, "low": centre - half, "high": centre + half,
            "p": test.pvalue}


def main():
    rng = np.random.default_rng(20261121)
    noises = ["independent", "walk", "step", "spikes"]
    paired = [paired_case(rng, n, noise) for n in (5, 7, 8, 17, 40) for noise in noises]
    unpaired = [unpaired_case(rng, n, m) for n, m in ((5, 5), (10, 10), (17, 30), (100, 40))]
    # Shares of 0 and 1 lie at the ends of what is allowed.
    paired += [paced_case(rng, n, share, 0.01) for n in (17, 40) for share in (0.0, 0.4, 1.0)]
    text = json.dumps({
        "by": f"Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}",
        "tolerance": 1e-9,
        "why": "an absolute error of the log ratio; dense and tridiagonal solvers round differently in each of eight "
               "iterations, and 1e-9 is a millionth of the finest change that anybody asks about",
        "paired": paired, "unpaired": unpaired,
    }, indent=1)
    (pathlib.Path(__file__).parent / "decide.json").write_text(text + "\n")


main()
