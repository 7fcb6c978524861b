//! Flags about where a record goes.

use std::path::PathBuf;

use becalm_model::terms::Exports;

use super::replace;

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

impl ExportFlags {
    /// Puts what was given into the terms of a session.
    pub(crate) fn apply(&self, exports: &mut Exports) {
        exports.print |= self.json;
        replace(&mut exports.json, self.export_json.clone().map(Some));
        replace(&mut exports.html, self.export_html.clone().map(Some));
        replace(&mut exports.markdown, self.export_markdown.clone().map(Some));
    }
}
