"""Writes the reference values that crates/stats is tested against, and what crates/calibrate sets beside it.

Made with Python 3.11.7, NumPy 2.4.6, SciPy 1.17.1, pymannkendall 1.4.3, mpmath 1.4.1 (50 digits).

    python3 -m venv venv && venv/bin/pip install numpy scipy pymannkendall mpmath
    venv/bin/python generate.py

Each file: {"by": what computed it, "tolerance": largest relative error allowed, "why": reason for it, "cases": [...]}.
"""

import itertools
import json
import pathlib
import sys

import mpmath
import numpy as np
import pymannkendall
import scipy
from scipy import stats

HERE = pathlib.Path(__file__).parent
PEERS = HERE.parents[2] / "calibrate" / "tests" / "reference"
VERSIONS = (
    f"Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
    f"pymannkendall {pymannkendall.__version__ if hasattr(pymannkendall, '__version__') else '1.4.3'}, "
    f"mpmath {mpmath.__version__}"
)
mpmath.mp.dps = 50


def write(name, by, tolerance, why, cases, folder=HERE):
    head = {"by": f"{by}; {VERSIONS}", "tolerance": tolerance, "why": why}
    lines = ",\n".join("  " + json.dumps(case, default=float) for case in cases)
    text = json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + lines + "\n ]\n}\n"
    (folder / f"{name}.json").write_text(text)


def samples():
    """Samples as benchmarks give them: small, tied, constant in the middle, skewed, far from 0, huge, tiny."""
    rng = np.random.default_rng(20261120)
    made = [
        [3.0, 1.0],
        [0.1, 0.2, 0.3],
        [2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0],
        [5.0, 5.0, 5.0, 5.0, 5.0, 5.5, 9.0],
        [1e9 + 1.0, 1e9 + 2.0, 1e9 + 4.0, 1e9 + 8.0],
        [-3.0, -1.0, 0.0, 2.0, 10.0, -7.0],
    ]
    for n in (5, 10, 11, 20, 33, 100):
        made.append(rng.normal(10.0, 0.1, n).tolist())
        made.append(np.exp(rng.normal(-7.0, 0.5, n)).tolist())
        made.append(np.round(rng.normal(50.0, 2.0, n)).tolist())
    made.append((rng.normal(1.0, 0.01, 15) * 1e290).tolist())
    made.append((rng.normal(1.0, 0.01, 15) * 1e-290).tolist())
    return made


def estimators():
    cases = []
    for x in samples():
        a = np.asarray(x)
        scale = np.abs(a).max()
        s = a / scale if scale > 1e200 or scale < 1e-200 else a
        unit = scale if s is not a else 1.0
        case = {
            "x": x,
            "mean": float(mpmath.fsum(map(mpmath.mpf, x)) / len(x)),
            "median": np.median(a),
            "trimmed_10": stats.trim_mean(a, 0.1),
            "trimmed_20": stats.trim_mean(a, 0.2),
            "deviation": np.std(s, ddof=1) * unit,
            "mad": stats.median_abs_deviation(a),
            "iqr": stats.iqr(a),
            "winsorised_20": np.std(np.asarray(stats.mstats.winsorize(s, (0.2, 0.2))), ddof=1) * unit,
            "quantiles": {str(q): np.percentile(a, q) for q in (1, 5, 25, 75, 95, 99)},
        }
        cases.append(case)
    write("estimators", "NumPy and SciPy; the mean in 50 digits", 2e-14,
          "two-pass sums in double precision; beside it 4 units in the last place of the largest value, which is what "
          "rounding leaves of a sample far from 0", cases)


def intervals():
    cases = []
    for x in samples():
        for confidence in (0.8, 0.95, 0.99):
            low, high = stats.t.interval(confidence, len(x) - 1, 0.0, 1.0)
            a = np.asarray(x)
            scale = np.abs(a).max()
            error = np.std(a / scale, ddof=1) * scale / np.sqrt(len(a))
            found = stats.quantile_test(a, q=0, p=0.5).confidence_interval(confidence)
            median = [found.low, found.high]
            enough = 2 * 0.5 ** len(a) <= 1 - confidence
            cases.append({
                "x": x, "confidence": confidence, "mean_half_width": high * error,
                "median": median if enough and not np.isnan(median).any() else None,
            })
    write("intervals", "scipy.stats.t, scipy.stats.quantile_test(...).confidence_interval", 1e-11,
          "statrs inverts Student's distribution to about 1e-12; the ends of the median interval are compared exactly",
          cases)


def distributions():
    normal_tail = [{"z": z, "upper": float(mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2)) / 2)}
                   for z in (-8.0, -3.0, -1.0, 0.0, 0.5, 1.0, 1.96, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 37.0)]
    write("normal_tail", "mpmath erfc", 5e-13,
          "own series and continued fraction; exp(-x^2) loses x^2 units in the last place in the far tail", normal_tail)
    quantiles = [{"p": p, "quantile": float(mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(p) - 1))}
                 for p in (1e-15, 1e-10, 1e-6, 0.001, 0.025, 0.1, 0.3, 0.5, 0.6, 0.8, 0.95, 0.975, 0.999, 0.999999)]
    write("normal_quantile", "mpmath erfinv", 1e-13, "statrs improved by one Newton step", quantiles)

    def student(t, df):
        t, df = mpmath.mpf(t), mpmath.mpf(df)
        return float(mpmath.betainc(df / 2, mpmath.mpf(1) / 2, 0, df / (df + t * t), regularized=True))

    tails = [{"t": t, "df": df, "two_sided": student(t, df)}
             for df in (1.0, 2.0, 3.7, 9.0, 29.0, 100.5, 1000.0) for t in (0.0, 0.1, 1.0, 2.5, 6.0, 15.0, 40.0)]
    write("student_tail", "mpmath betainc", 1e-12,
          "continued fraction of the incomplete beta function, relative, down to probabilities of 1e-100", tails)
    quantiles = [{"p": p, "df": df, "quantile": stats.t.ppf(p, df)}
                 for df in (1.0, 2.0, 3.7, 9.0, 29.0, 100.5, 1000.0)
                 for p in (1e-6, 0.0005, 0.005, 0.025, 0.1, 0.4, 0.5, 0.75, 0.975, 0.9995)]
    write("student_quantile", "scipy.stats.t.ppf", 5e-12, "statrs inverts the distribution to about 1e-12", quantiles)


def pairs():
    rng = np.random.default_rng(7)
    made = []
    for m, n in ((3, 3), (4, 6), (8, 8), (8, 30), (8, 200), (9, 9), (20, 25), (60, 60)):
        for shift in (0.0, 0.5, 2.0):
            made.append((rng.normal(10, 1, m), rng.normal(10 + shift, 2, n)))
            made.append((np.round(rng.normal(10, 1, m)), np.round(rng.normal(10 + shift, 2, n))))
    return made


def two_samples():
    welch, ranks = [], []
    for a, b in pairs():
        r = stats.ttest_ind(a, b, equal_var=False)
        ci = r.confidence_interval(0.95)
        if np.isfinite(r.statistic):
            welch.append({"a": a.tolist(), "b": b.tolist(), "t": r.statistic, "df": r.df, "p": r.pvalue,
                          "low": ci.low, "high": ci.high})
        u = stats.mannwhitneyu(a, b, method="auto")
        ranks.append({"a": a.tolist(), "b": b.tolist(), "u": u.statistic, "p": u.pvalue})
    write("welch", "scipy.stats.ttest_ind(equal_var=False)", 1e-11,
          "t and df to 1e-12; the interval through statrs's inverse of Student's distribution", welch, PEERS)
    write("mann_whitney", "scipy.stats.mannwhitneyu(method='auto')", 1e-12,
          "exact counts as products of doubles; normal tail from erfc", ranks, PEERS)


def holm(p):
    order = np.argsort(p)
    out, highest = np.empty(len(p)), 0.0
    for step, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - step) * p[i]))
        out[i] = highest
    return out


def one_sample():
    rng = np.random.default_rng(11)
    made = [np.array([1.0, -2.0, 3.0, 4.0, 5.0]), np.array([0.0, 0.0, 1.0, 2.0, -1.0, 4.0])]
    for n in (6, 9, 12, 20, 49, 50, 51, 120):
        for shift in (0.0, 0.3, 1.0):
            made.append(rng.normal(shift, 1, n))
            made.append(np.round(rng.normal(shift, 2, n)))
    yuen = []
    for d in made:
        if not np.any(d):
            continue
        for share in (0.0, 0.1, 0.2, 0.25):
            n, g = len(d), int(share * len(d))
            h = n - 2 * g
            kept_sorted = np.sort(d)[g:n - g]
            wins = np.clip(d, kept_sorted[0], kept_sorted[-1])
            e = np.std(wins, ddof=1) * np.sqrt((n - 1) / (h * (h - 1)))
            if e == 0:
                continue
            t = kept_sorted.mean() / e
            half = stats.t.ppf(0.975, h - 1) * e
            case = {"d": d.tolist(), "share": share, "mean": kept_sorted.mean(), "t": t, "df": h - 1,
                    "p": 2 * stats.t.sf(abs(t), h - 1), "half": half}
            if share == 0.0:
                known = stats.ttest_1samp(d, 0)
                assert np.isclose(known.statistic, t, rtol=1e-12) and np.isclose(known.pvalue, case["p"], rtol=1e-10)
            else:
                # SciPy has Yuen's test for two samples; against a sample of zeros it is this one-sample test.
                known = stats.ttest_ind(d, np.zeros(n), trim=share, equal_var=False)
                assert np.isclose(known.statistic, t, rtol=1e-10), (known, t)
            yuen.append(case)
    write("yuen", "formula in NumPy, checked here against scipy.stats.ttest_1samp and ttest_ind(trim=...)", 1e-11,
          "the interval goes through statrs's inverse of Student's distribution", yuen)
def rates():
    cases = []
    for k, n in ((0, 10), (1, 10), (5, 10), (10, 10), (3, 1000), (27, 50), (999, 1000), (50000, 100000)):
        for confidence in (0.9, 0.95, 0.999):
            r = stats.binomtest(k, n)
            tail = (1 - confidence) / 2
            exact = [stats.beta.ppf(tail, k, n - k + 1) if k > 0 else 0.0,
                     stats.beta.ppf(1 - tail, k + 1, n - k) if k < n else 1.0]
            # SciPy's own exact interval stops its root finder near 2e-12, which is too early to be a reference.
            assert np.allclose(exact, r.proportion_ci(confidence, "exact"), rtol=0, atol=1e-11)
            cases.append({"successes": k, "trials": n, "confidence": confidence,
                          "exact": exact})
    write("rates", "scipy.stats.beta.ppf", 1e-11,
          "at 100000 trials the logarithm of the beta function loses digits", cases, PEERS)


def corrections():
    rng = np.random.default_rng(3)
    made = [[0.01, 0.02, 0.03], [0.01, 0.04, 0.03, 0.005], [0.9, 0.8], [0.02, 0.02, 0.02], [0.0, 1.0, 0.5]]
    made += [(rng.random(n) ** 3).tolist() for n in (2, 5, 20)]
    write("holm", "the definition, in NumPy", 1e-14, "products only", [{"p": p, "adjusted": holm(p).tolist()} for p in made])


def sequences():
    rng = np.random.default_rng(5)
    cases = []
    for n in (8, 9, 20, 50, 101):
        for trend in (0.0, 0.02, 0.2):
            for decimals in (8, 0):
                x = np.round(20 + trend * np.arange(n) + rng.normal(0, 1, n), decimals)
                mk = pymannkendall.original_test(x)
                ranks = stats.rankdata(x)
                centred = ranks - ranks.mean()
                u = np.array([2 * ranks[:t].sum() - t * (n + 1) for t in range(1, n)])
                t = int(np.argmax(np.abs(u))) + 1
                k = float(np.abs(u).max())
                cases.append({
                    "x": x.tolist(), "s": mk.s, "trend_p": mk.p, "slope": stats.theilslopes(x).slope,
                    "lag1": float((centred[1:] * centred[:-1]).sum() / (centred ** 2).sum()),
                    "k": k, "step_index": t, "step_p": min(1.0, 2 * np.exp(-6 * k * k / (n ** 3 + n ** 2))),
                    "step_shift": np.median(x[t:]) - np.median(x[:t]),
                })
    write("sequences", "pymannkendall.original_test, scipy.stats.theilslopes; Pettitt and lag 1 by formula", 1e-10,
          "pymannkendall takes p as 2 (1 - cdf), which loses digits in the far tail: p is compared to 1e-12 absolute too",
          cases)


def histograms():
    cases = []
    for x in samples():
        a = np.asarray(x)
        edges = np.histogram_bin_edges(a, "fd")
        if stats.iqr(a) == 0 or np.abs(a).max() > 1e200 or np.abs(a).max() < 1e-200:
            continue
        cases.append({"x": x, "n_bins": len(edges) - 1})
    write("histograms", "numpy.histogram_bin_edges(bins='fd')", 0, "a number of bins is exact", cases)


for part in (estimators, intervals, distributions, two_samples, one_sample, rates, corrections, sequences, histograms):
    part()
