//! What a server has to keep, and whether it did: `p99 < 20ms`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{QuantityError, parse_duration, parse_share};

/// An upper limit of something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    /// As it was written.
    pub text: String,
    /// Of what.
    pub of: ObjectiveOf,
    /// The limit: seconds, or a share of the requests.
    pub limit: f64,
}

/// Of what there is a limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectiveOf {
    /// A quantile of the response time over all scheduled requests; what was never answered took for ever.
    Response(f64),
    /// The share of the scheduled requests without the expected answer.
    Errors,
}

/// Whether an objective was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectiveResult {
    /// The objective.
    #[serde(flatten)]
    pub objective: Objective,
    /// What was found; absent if too many requests were never answered for there to be a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<f64>,
    /// Whether that is below the limit.
    pub is_kept: bool,
}

/// Why a text is not an objective.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ObjectiveError {
    /// It has another form.
    #[error("`{0}` is not an objective such as 'p99 < 20ms', 'max < 1s' or 'errors < 0.1%'")]
    Form(String),
    /// There is no such percentile.
    #[error("`{0}` is not a percentile: use p50, p99, p99.9 or another one between p0 and p100")]
    Percentile(String),
    /// The limit is not a quantity.
    #[error(transparent)]
    Limit(#[from] QuantityError),
}

impl FromStr for Objective {
    type Err = ObjectiveError;

    fn from_str(text: &str) -> Result<Self, ObjectiveError> {
        let (name, limit) =
            text.split_once('<').ok_or_else(|| ObjectiveError::Form(text.to_owned()))?;
        let (name, limit) = (name.trim(), limit.trim());
        let of = match name {
            "errors" => ObjectiveOf::Errors,
            "max" => ObjectiveOf::Response(1.0),
            _ => {
                let digits = name
                    .strip_prefix('p')
                    .filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
                    .ok_or_else(|| ObjectiveError::Form(text.to_owned()))?;
                let percent = digits.parse().ok().filter(|p: &f64| *p > 0.0 && *p < 100.0);
                let percent = percent.ok_or_else(|| ObjectiveError::Percentile(name.to_owned()))?;
                // As a literal would be: 99.9 / 100 is not 0.999.
                ObjectiveOf::Response((percent * 1e7).round() / 1e9)
            }
        };
        let limit = match of {
            ObjectiveOf::Errors => parse_share(limit)?,
            ObjectiveOf::Response(_) => parse_duration(limit)?.as_secs_f64(),
        };
        Ok(Self { text: text.trim().to_owned(), of, limit })
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_read_as_people_write_them() {
        let check = |text: &str, of, limit| {
            let read: Objective = text.parse().unwrap();
            assert_eq!((read.of, read.limit), (of, limit), "{text}");
        };
        check("p99 < 20ms", ObjectiveOf::Response(0.99), 0.02);
        check("p99.9<1s", ObjectiveOf::Response(0.999), 1.0);
        check("max < 250us", ObjectiveOf::Response(1.0), 250e-6);
        check("errors < 0.5%", ObjectiveOf::Errors, 0.005);
    }

    #[test]
    fn what_is_none_is_refused_with_an_example() {
        for text in ["p99", "p99 > 20ms", "q < 1s", "pxx < 1s", ""] {
            let error = text.parse::<Objective>().unwrap_err().to_string();
            assert!(error.contains("'p99 < 20ms'"), "{error}");
        }
        assert!("p100 < 1s".parse::<Objective>().unwrap_err().to_string().contains("percentile"));
        assert!("p99 < 20".parse::<Objective>().unwrap_err().to_string().contains("20s"));
        assert!("errors < 1s".parse::<Objective>().is_err());
    }
}
