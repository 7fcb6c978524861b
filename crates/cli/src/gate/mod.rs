//! What a gate lets through: `rules` is `[gate]` of `becalm.toml`, `judge` decides by values alone, `next` says
//! what to do about it.

mod judge;
mod next;
mod rules;

pub(crate) use judge::{Worse, against_level, against_limit, against_margin, put_worst_first};
pub(crate) use next::next;
pub(crate) use rules::{Limit, Rule, Rules};
