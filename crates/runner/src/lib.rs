//! Schedules, starts, pins, counts and collects evidence; emits events and prints nothing.
//!
//! One run is [`launch`]: a [`Launch`] says all that it depends on, and [`Finished`] what it used. Around it stand the
//! [`Placement`] of a subject, its [`Environment`] and input, the counters ([`CounterPlan`]), what the machine did
//! meanwhile ([`EvidenceCollector`]) and which runs that disturbed ([`disturbances`]).
//!
//! Many runs are [`rounds`]: a plan, the loop over rounds and looks, and the executor that it runs subjects through.
//! [`conclude`] turns a record into comparisons, and reads nothing else. [`harness`] drives programs that time
//! themselves, [`timeit`] is becalm's own.
//!
//! It may use `kernel`, `machine`, `formats`, `stats` and `model`. Start with `launch.rs`, then `rounds/measure.rs`.

mod awake;
mod backend;
mod cached_files;
pub mod conclude;
mod counters;
mod disturbance;
mod energy;
mod environment;
mod evidence;
mod extract;
pub mod harness;
mod hold;
mod inherited;
mod iterations;
mod launch;
mod launch_error;
mod layout;
mod main_thread;
mod malloc;
mod pace;
mod placement;
mod precedence;
mod program;
pub mod rounds;
mod running;
pub mod said;
mod stdio;
pub mod timeit;
mod work_folder;

pub use becalm_kernel::clock::monotonic_raw;
pub use becalm_kernel::clone::Step;
pub use becalm_kernel::file::is_in_memory;
pub use becalm_kernel::interrupt::Interrupt;

pub use awake::{KeptAwake, keep_awake};
pub use backend::{BackendError, Callgrind};
pub use counters::CounterPlan;
pub use disturbance::{Observed, disturbances};
pub use energy::RunEnergy;
pub use environment::{EnvPolicy, Environment};
pub use evidence::{EvidenceCollector, MIN_WINDOW, window};
pub use extract::{ExtractError, Extractor, MetricSpecError};
pub use hold::hold;
pub use iterations::{SeriesError, SeriesRule, SeriesRuleError, check_times, recognise};
pub use launch::{Finished, Launch, replace, resident_floor};
pub use launch_error::LaunchError;
pub use layout::{MAX_PADDING, padding};
pub use malloc::{MALLOC_VARIABLE, huge_memory, kept_memory};
pub use pace::Sampled;
pub use placement::{Placement, own_affinity, pin_self};
pub use program::Program;
pub use running::launch;
pub use stdio::{MAX_CAPTURE, Stderr, Stdin, Stdout, open_at_once};
pub use work_folder::WorkFolder;
