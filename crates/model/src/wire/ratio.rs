//! A ratio with its interval, as documents have it among other fields.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::RatioInterval;

/// A ratio with its interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RatioFields {
    /// Candidate / baseline; above 1 the candidate has more. `null` when nothing is known, and with a verdict where an
    /// exact baseline is zero.
    pub ratio: Option<f64>,
    /// Lower end of the confidence interval of the ratio.
    pub ratio_low: Option<f64>,
    /// Upper end of the confidence interval of the ratio; `null` when unbounded.
    pub ratio_high: Option<f64>,
}

impl From<Option<RatioInterval>> for RatioFields {
    fn from(interval: Option<RatioInterval>) -> Self {
        // JSON has no infinity: an interval without upper end has no upper end, and from zero there is no ratio.
        let finite =
            |end: fn(RatioInterval) -> f64| interval.map(end).filter(|end| end.is_finite());
        Self {
            ratio: finite(|one| one.estimate),
            ratio_low: finite(|one| one.low),
            ratio_high: finite(|one| one.high),
        }
    }
}

impl From<RatioFields> for Option<RatioInterval> {
    fn from(fields: RatioFields) -> Self {
        Some(RatioInterval {
            estimate: fields.ratio?,
            low: fields.ratio_low.unwrap_or(0.0),
            high: fields.ratio_high.unwrap_or(f64::INFINITY),
        })
    }
}

pub(crate) fn serialize<T, S>(ratio: &T, out: S) -> Result<S::Ok, S::Error>
where
    T: Copy + Into<Option<RatioInterval>>,
    S: Serializer,
{
    RatioFields::from((*ratio).into()).serialize(out)
}

pub(crate) fn deserialize<'de, D>(from: D) -> Result<Option<RatioInterval>, D::Error>
where
    D: Deserializer<'de>,
{
    RatioFields::deserialize(from).map(Into::into)
}
