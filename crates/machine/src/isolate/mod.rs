//! CPUs for the subject alone, without a reboot.

/// Name of the control group into which everything else goes where nothing but moving helps.
pub(crate) const OTHERS: &str = "becalm-others";
