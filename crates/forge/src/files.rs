//! What a job leaves for its service in files and in its log.

use std::io::Write as _;
use std::path::Path;

use becalm_model::ci::CiReport;
use becalm_report::ci_summary;

/// Adds the report to the summary of the job. Other steps write to the same file.
pub fn write_summary(path: &Path, report: &CiReport) -> std::io::Result<()> {
    append(path, &format!("{}\n", ci_summary(report)))
}

/// Writes the conclusion where later steps read it.
pub fn write_outputs(path: &Path, report: &CiReport) -> std::io::Result<()> {
    append(path, &format!("conclusion={}\n", report.conclusion.name()))
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::File::options().create(true).append(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Returns a text for the log of a job, in which GitHub takes `::name::` at the beginning of a line and `##[name]`
/// anywhere for commands: to set outputs, to hide words, to make annotations.
pub fn without_commands(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let start = line.trim_start();
        match start.strip_prefix("::") {
            Some(rest) => format!("{}: :{rest}", &line[..line.len() - start.len()]),
            None => line.to_owned(),
        }
    });
    lines.collect::<String>().replace("##[", "## [")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_log_is_a_command() {
        assert_eq!(
            without_commands("a::b\n  ::add-mask::x\n::::y\nz ##[set-output name=a;]b\n"),
            "a::b\n  : :add-mask::x\n: :::y\nz ## [set-output name=a;]b\n"
        );
    }
}
