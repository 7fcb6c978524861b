//! Rates as people write them: `2000`, `100..2000`, `500,1000`.

use super::Stage;

/// Why a text is not a rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RatesError {
    /// A part of it is not a number.
    #[error("`{0}` is not a rate; use 2000, 100..2000 or 500,1000 (requests per second)")]
    NotARate(String),
    /// All of them are zero.
    #[error("at a rate of 0 no request would be sent")]
    Nothing,
}

/// Reads a rate over time: a number, two with `..` between them, or several of either after commas. Returns the rate at the
/// beginning and at the end of each stage.
pub fn parse_rates(text: &str) -> Result<Vec<(f64, f64)>, RatesError> {
    let number = |part: &str| {
        let rate = part.trim().parse().ok().filter(|rate: &f64| rate.is_finite() && *rate >= 0.0);
        rate.ok_or_else(|| RatesError::NotARate(part.to_owned()))
    };
    let mut rates = Vec::new();
    for part in text.split(',') {
        rates.push(match part.split_once("..") {
            Some((from, to)) => (number(from)?, number(to)?),
            None => (number(part)?, number(part)?),
        });
    }
    if rates.iter().all(|(from, to)| from + to <= 0.0) {
        return Err(RatesError::Nothing);
    }
    Ok(rates)
}

/// Writes the rates of stages so that they can be read back; `replayed` if there are none, because due times were.
pub fn rates_text(stages: &[Stage]) -> String {
    if stages.is_empty() {
        return "replayed".to_owned();
    }
    let is_constant = |stage: &Stage| (stage.from - stage.to).abs() < f64::EPSILON;
    let text = |stage: &Stage| {
        if is_constant(stage) {
            stage.from.to_string()
        } else {
            format!("{}..{}", stage.from, stage.to)
        }
    };
    stages.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_constant_rises_or_goes_in_steps() {
        assert_eq!(parse_rates("2000"), Ok(vec![(2000.0, 2000.0)]));
        assert_eq!(parse_rates("100..2000"), Ok(vec![(100.0, 2000.0)]));
        assert_eq!(parse_rates("0..50, 50"), Ok(vec![(0.0, 50.0), (50.0, 50.0)]));
        for text in ["", "fast", "-1", "1e999", "1..", "0", "100/s"] {
            assert!(parse_rates(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_can_be_read_back() {
        for text in ["2000", "100..2000", "500,1000", "0..50,50"] {
            let stage = |(from, to)| Stage { seconds: 1.0, from, to };
            let stages: Vec<Stage> = parse_rates(text).unwrap().into_iter().map(stage).collect();
            assert_eq!(rates_text(&stages), text);
        }
        assert_eq!(rates_text(&[]), "replayed");
    }
}
