//! How much of a run's duration is rested after it.

use std::fmt;
use std::str::FromStr;

use crate::as_text::as_text;
use crate::{QuantityError, parse_share};

/// How much of a run's duration is rested after it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Rest {
    /// What the scheduling class needs: some under `SCHED_FIFO`, else nothing.
    #[default]
    Auto,
    /// This share of the run's duration; time that becalm needs between runs counts.
    Share(f64),
}

/// Longest rest that can be asked for, as a share of the run.
const LONGEST: f64 = 10.0;

/// Why a text is no rest.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RestError {
    /// It is neither `auto` nor a share.
    #[error(transparent)]
    Share(#[from] QuantityError),
    /// It is longer than anybody wants.
    #[error("a rest of more than ten times the run is surely a mistake")]
    TooLong,
}

impl FromStr for Rest {
    type Err = RestError;

    fn from_str(text: &str) -> Result<Self, RestError> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let share = parse_share(text)?;
        if share <= LONGEST { Ok(Self::Share(share)) } else { Err(RestError::TooLong) }
    }
}

impl fmt::Display for Rest {
    /// Writes `auto` or a fraction of 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Share(share) => share.fmt(f),
        }
    }
}

as_text!(Rest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_survives_being_written_and_read() {
        for rest in [Rest::Auto, Rest::Share(0.07), Rest::Share(0.0)] {
            assert_eq!(rest.to_string().parse(), Ok(rest));
        }
        assert_eq!("5%".parse(), Ok(Rest::Share(0.05)));
        assert_eq!("1001%".parse::<Rest>(), Err(RestError::TooLong));
    }
}
