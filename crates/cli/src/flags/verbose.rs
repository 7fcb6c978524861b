//! The flag about how much of a report is printed.

use becalm_report::Detail;

/// How much of a report is printed.
#[derive(Debug, clap::Args)]
pub(crate) struct VerboseFlag {
    /// Print everything: medians, spread, checks, conditions, notes, limits; `becalm show` also
    /// prints it afterwards
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,
}

impl VerboseFlag {
    /// Returns how much of the report is printed.
    pub(crate) fn detail(&self) -> Detail {
        if self.verbose { Detail::Full } else { Detail::Short }
    }
}
