//! Estimators and rules err no more often than they say: each file counts one of them on simulated data.
//!
//! One program for all files, so that they run side by side.

mod bimodality;
mod bisection;
mod changes;
mod coverage;
mod decision;
mod fleets;
mod harness;
mod levels;
mod needed;
mod servers;
mod spread_ratio;
mod steady;
