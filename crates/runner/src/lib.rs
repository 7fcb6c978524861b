//! Schedules, starts, pins, counts and collects evidence; emits events and prints nothing.

mod counters;
mod environment;
mod interrupt;
mod launch;
mod launch_error;
mod layout;
mod placement;
mod program;
mod stdio;
mod sys;

pub use counters::{CPU_MIGRATIONS, CounterPlan, Counters, TASK_CLOCK};
pub use environment::{EnvPolicy, Environment, PADDING_VARIABLE};
pub use interrupt::{Interrupt, monotonic_raw};
pub use launch::{Finished, Launch, launch, resident_floor};
pub use launch_error::{LaunchError, Step};
pub use layout::{MAX_PADDING, padding};
pub use placement::{Placement, Scheduler, User, invoking_user, own_affinity, pin_self};
pub use program::Program;
pub use stdio::{MAX_CAPTURE, Stderr, Stdin, Stdout};
