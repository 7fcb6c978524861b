//! Values of the flags of `becalm load`: rates, headers, seeds.

use std::time::{SystemTime, UNIX_EPOCH};

use becalm_model::load::Stage;

/// Returns the rate that is asked for at a time; none outside the stages, and for times of a file.
pub(super) fn rate_at(stages: &[Stage], seconds: f64) -> Option<f64> {
    let mut begins = 0.0;
    for stage in stages {
        let within = (seconds - begins) / stage.seconds;
        if (0.0..1.0).contains(&within) {
            return Some(stage.from + (stage.to - stage.from) * within);
        }
        begins += stage.seconds;
    }
    None
}

/// Reads `Name: value`.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once(':').ok_or_else(|| format!("`{text}` is not of the form 'Name: value'"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Returns a seed that differs from time to time, short enough to be typed.
pub(super) fn seed_of_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) % 100_000
}

#[cfg(test)]
mod tests {
    use becalm_model::load::Rates;

    use super::*;

    #[test]
    fn the_rate_that_is_asked_for_follows_the_stages() {
        let stages = "100..200,400".parse::<Rates>().unwrap().stages(10.0);
        let at = |seconds| rate_at(&stages, seconds).map(|rate| becalm_model::whole(rate.round()));
        assert_eq!([0.0, 2.5, 5.0, 10.0].map(at), [Some(100), Some(150), Some(400), None]);
    }

    #[test]
    fn a_header_has_a_colon() {
        assert_eq!(header("A: b:c"), Ok(("A".to_owned(), "b:c".to_owned())));
        assert!(header("A").is_err());
    }
}
