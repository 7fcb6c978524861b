//! The tests that other tools decide by, to be set beside becalm's.

mod mann_whitney;
mod welch;

pub use mann_whitney::{MannWhitney, mann_whitney};
pub use welch::{Welch, welch};

#[cfg(test)]
mod tests {
    use becalm_stats::Sample;
    use serde_json::Value;

    use super::{mann_whitney, welch};
    use crate::rate::clopper_pearson;

    fn number(value: &Value) -> f64 {
        value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
    }

    fn sample(values: &Value) -> Sample {
        Sample::new(values.as_array().unwrap().iter().map(number).collect()).unwrap()
    }

    /// Values of `SciPy`, see `crates/stats/tests/reference/generate.py`; `check` is given each with what it may be off.
    fn each(text: &str, mut check: impl FnMut(&Value, &dyn Fn(&str, f64, &Value))) {
        let file: Value = serde_json::from_str(text).unwrap();
        let tolerance = number(&file["tolerance"]);
        for case in file["cases"].as_array().unwrap() {
            check(case, &|what, actual, expected| {
                let expected = number(expected);
                let error = (actual - expected).abs();
                assert!(
                    error <= tolerance * expected.abs() || error <= 1e-14,
                    "{what}: {actual:e} instead of {expected:e}"
                );
            });
        }
    }

    #[test]
    fn welch_agrees_with_scipy_and_turns_with_its_samples() {
        each(include_str!("../../tests/reference/welch.json"), |case, close| {
            let (a, b) = (sample(&case["a"]), sample(&case["b"]));
            let result = welch(&a, &b, 0.95).unwrap();
            close("t", result.t, &case["t"]);
            close("df", result.df, &case["df"]);
            close("p", result.p, &case["p"]);
            close("low", result.difference.low, &case["low"]);
            close("high", result.difference.high, &case["high"]);
            close("p of the other way", welch(&b, &a, 0.95).unwrap().p, &case["p"]);
        });
    }

    #[test]
    fn mann_whitney_agrees_with_scipy_and_turns_with_its_samples() {
        let mut exact = [0, 0];
        each(include_str!("../../tests/reference/mann_whitney.json"), |case, close| {
            let (a, b) = (sample(&case["a"]), sample(&case["b"]));
            let result = mann_whitney(&a, &b);
            close("u", result.u, &case["u"]);
            close("p", result.p, &case["p"]);
            close("p of the other way", mann_whitney(&b, &a).p, &case["p"]);
            exact[usize::from(result.is_exact)] += 1;
        });
        assert!(exact.into_iter().all(|cases| cases > 5), "both ways are covered: {exact:?}");
    }

    #[test]
    fn intervals_of_rates_agree_with_scipy() {
        each(include_str!("../../tests/reference/rates.json"), |case, close| {
            let count = |name: &str| case[name].as_u64().unwrap();
            let confidence = number(&case["confidence"]);
            let exact = clopper_pearson(count("successes"), count("trials"), confidence);
            close("low", exact.low, &case["exact"][0]);
            close("high", exact.high, &case["exact"][1]);
        });
    }
}
