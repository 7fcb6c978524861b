//! Flags about where a record goes.

use std::path::PathBuf;

/// Flags about where a record goes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ExportFlags {
    /// Print the whole record as JSON to standard output
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Save the whole record; while measuring, every finished run is in FILE.partial
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_json: Option<PathBuf>,

    /// Save an HTML report
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_html: Option<PathBuf>,

    /// Save a short Markdown report
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_markdown: Option<PathBuf>,
}
