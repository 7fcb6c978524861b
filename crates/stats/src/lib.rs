//! Pure statistics: estimators, intervals, tests and sequential decisions.
//!
//! Nothing here reads a file, a clock or global state; whatever is random takes a seed. Every
//! function takes a validated [`Sample`], so that no estimator has to think about NaN, infinity or
//! an empty list. Estimators that need more values, or spread, than they were given return a
//! [`Violation`] instead of a number without meaning.
//!
//! It may use nothing of ours. Start reading in `decide/`, which says whether two sides differ; else each
//! estimator or test is a file with its formula and its source on top.

#![cfg_attr(
    test,
    expect(clippy::float_cmp, reason = "tests state exact results where arithmetic is exact")
)]

pub mod bimodality;
pub mod bisect;
pub mod boxes;
pub mod center;
pub mod changes;
pub mod chi_squared;
pub mod decide;
pub mod density;
pub mod drift;
pub mod histogram;
pub mod levels;
pub mod machines;
pub mod mean_interval;
pub mod median_error;
pub mod median_interval;
pub mod multiplicity;
pub mod newest;
pub mod normal;
pub mod outlier;
pub mod prediction;
pub mod quantile;
pub mod queue;
pub mod rank;
pub mod rng;
pub mod sample;
pub mod schedule;
pub mod sequence;
pub mod spread;
pub mod spread_ratio;
pub mod steady;
pub mod step;
pub mod student;
pub mod summary;
pub mod threshold;
pub mod usual;
pub mod warmup;
pub mod whole;
mod yuen;

mod one_mode;
mod segments;
mod sum;
mod two_modes;

pub use bimodality::{Bimodality, Modes};
pub use drift::Drift;
pub use histogram::Histogram;
pub use multiplicity::{Holm, holm};
pub use rng::Rng;
pub use sample::{Interval, Sample, Violation};
pub use sequence::SequenceCheck;
pub use spread_ratio::{Measure, SpreadRatio};
pub use step::Step;
pub use summary::{Percentile, Summary};
pub use yuen::{Yuen, yuen};
