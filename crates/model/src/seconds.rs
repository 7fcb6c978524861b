//! Durations as numbers of seconds, for `#[serde(with = "seconds")]`.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes seconds.
pub(crate) fn serialize<S: Serializer>(value: &Duration, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_f64(value.as_secs_f64())
}

/// Reads seconds.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(from)?).map_err(D::Error::custom)
}

/// The same where there may be none.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Duration, Serializer};
    use serde::de::Error as _;

    /// Writes seconds or `null`.
    #[expect(clippy::ref_option, reason = "serde calls it so")]
    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => out.serialize_some(&value.as_secs_f64()),
            None => out.serialize_none(),
        }
    }

    /// Reads seconds or `null`.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        Option::<f64>::deserialize(from)?
            .map(|seconds| Duration::try_from_secs_f64(seconds).map_err(D::Error::custom))
            .transpose()
    }
}
