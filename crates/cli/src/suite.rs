//! Suites.

pub(crate) use becalm_session::did_you_mean;
pub(crate) use becalm_session::suite::SuiteFile;
