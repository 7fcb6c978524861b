//! Flags about where a record goes.

use std::path::PathBuf;

use becalm_model::terms::Exports;
use becalm_session::files;

use super::replace;
use crate::error::CommandError;
use crate::written::check_files;

/// Flags about where a record goes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ExportFlags {
    /// Print the whole record as JSON to standard output
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Save the whole record; during the measurement, FILE.partial has every finished run
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_json: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) report: ReportFlags,
}

/// Flags about where a report for people goes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReportFlags {
    /// Save an HTML report
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_html: Option<PathBuf>,

    /// Save a short Markdown report
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) export_markdown: Option<PathBuf>,
}

impl ReportFlags {
    /// Says whether a report was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.export_html.is_some() || self.export_markdown.is_some()
    }

    /// Refuses, before anything is measured, files that could not be written in the end.
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        check_files([&self.export_html, &self.export_markdown].into_iter().flatten())
    }

    /// Writes the reports that were asked for.
    pub(crate) fn write(
        &self,
        html: impl FnOnce() -> String,
        markdown: impl FnOnce() -> String,
    ) -> Result<(), CommandError> {
        if let Some(path) = &self.export_html {
            files::write_atomically(path, &html())?;
        }
        if let Some(path) = &self.export_markdown {
            files::write_atomically(path, &markdown())?;
        }
        Ok(())
    }
}

impl ExportFlags {
    /// Puts what was given into the terms of a session.
    pub(crate) fn apply(&self, exports: &mut Exports) {
        exports.print |= self.json;
        replace(&mut exports.json, self.export_json.clone().map(Some));
        replace(&mut exports.html, self.report.export_html.clone().map(Some));
        replace(&mut exports.markdown, self.report.export_markdown.clone().map(Some));
    }
}
