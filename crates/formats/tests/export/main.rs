//! Records as files of other tools: read again by becalm, by schemas and by the tools themselves.

mod gates;
mod loads;
mod odd;
mod real_tools;
mod round_trips;
mod single_values;
mod support;
