//! Schedules, starts, pins, counts and collects evidence; emits events and prints nothing.

pub mod conclude;
mod counters;
mod disturbance;
mod environment;
mod evidence;
mod extract;
mod hold;
mod interrupt;
mod iterations;
mod launch;
mod launch_error;
mod layout;
mod page_cache;
mod placement;
mod precedence;
mod program;
pub mod session;
mod stdio;
mod sys;

pub use becalm_stats::usual::{MIN_RUNS, SIGMAS};
pub use counters::{CounterPlan, Counters};
pub use disturbance::{Observed, disturbances};
pub use environment::{EnvPolicy, Environment, PADDING_VARIABLE};
pub use evidence::{EvidenceCollector, MIN_WINDOW, window};
pub use extract::{ExtractError, Extractor, MetricSpecError};
pub use hold::hold;
pub use interrupt::{Interrupt, monotonic_raw};
pub use iterations::{SeriesError, SeriesRule, SeriesRuleError, check_times, recognise};
pub use launch::{Finished, Launch, launch, resident_floor};
pub use launch_error::{LaunchError, Step};
pub use layout::{MAX_PADDING, padding};
pub use page_cache::drop_page_cache;
pub use placement::{Placement, Scheduler, User, invoking_user, own_affinity, pin_self};
pub use program::Program;
pub use stdio::{MAX_CAPTURE, Stderr, Stdin, Stdout};
