//! Experiments about the machine itself: workloads of known work, and what they show of it.
//!
//! [`Workload`] is a program of which it is known what it does, [`iterate`](fn@iterate) times it from inside.
//! [`probe`] looks for what interrupts the CPUs, [`trace`] names who takes time from a run, [`ablate`] finds out which
//! mitigation of noise helps, and [`reproduce`] repeats published experiments.
//!
//! What can be a pure function is one: the ledger of a trace sees events alone, an ablation is designed, analysed and
//! answered without making a run. Runs are made through `runner`, and the machine is changed by `machine` alone.
//!
//! It may use `kernel`, `machine`, `runner`, `stats` and `model`. Start with `workloads/`, or for who takes time with
//! `trace/tracer.rs`.

pub mod ablate;
mod iterate;
mod namespace;
mod places;
pub mod probe;
pub mod reproduce;
mod spin;
mod timer;
pub mod trace;
mod workloads;

pub use iterate::{IterateError, Options, Series, TaskSeries, iterate};
pub use places::PlaceError;
pub use spin::{Spin, spin};
pub use timer::{Timer, TimerChoice, TimerError};
pub use workloads::{Workload, WorkloadError};
