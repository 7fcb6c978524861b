//! `cargo xtask docs`: files and passages that are generated, so that they cannot drift from the
//! code.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::{Profile, build_becalm, capture, cargo, root};

/// Regenerate what is generated under docs/: the JSON Schema, the command reference and the
/// calibration tables
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Change nothing; fail with the name of the first file that is not up to date
    #[arg(long)]
    check: bool,

    /// Whether to simulate the calibration tables anew, which takes minutes; the default is yes,
    /// and no with --check
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "yes")]
    calibration: Option<Answer>,

    /// Simulated comparisons per rate of the calibration tables
    #[arg(long, value_name = "N", default_value_t = TRIALS)]
    trials: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Answer {
    /// Simulate
    Yes,
    /// Leave as it is
    No,
}

/// Trials of the published tables: enough for intervals of 2 points around 5 %.
const TRIALS: u32 = 2000;

/// Seed of the published tables.
const SEED: u32 = 1;

const SCHEMA: &str = "docs/schema/record.schema.json";
const TOPOLOGY_SCHEMA: &str = "docs/schema/topology.schema.json";
const BOOT_SCHEMA: &str = "docs/schema/boot-params.schema.json";
const CHECK_SCHEMA: &str = "docs/schema/check.schema.json";
const TUNE_SCHEMA: &str = "docs/schema/tune.schema.json";
const TRACE_SCHEMA: &str = "docs/schema/trace.schema.json";
const SERVICES_SCHEMA: &str = "docs/schema/services.schema.json";
const PLAN_SCHEMA: &str = "docs/schema/plan.schema.json";
const STEADY_SCHEMA: &str = "docs/schema/steady.schema.json";
const WORKLOAD_SCHEMA: &str = "docs/schema/workload.schema.json";
const PROBE_SCHEMA: &str = "docs/schema/noise-probe.schema.json";
const CPU_NOISE_SCHEMA: &str = "docs/schema/cpu-noise.schema.json";
const REPRODUCE_SCHEMA: &str = "docs/schema/noise-reproduce.schema.json";
const ABLATE_SCHEMA: &str = "docs/schema/noise-ablate.schema.json";
const COMMANDS: &str = "docs/COMMANDS.md";
const METHODOLOGY: &str = "docs/METHODOLOGY.md";
const BEGIN: &str = "<!-- BEGIN: calibration -->";
const END: &str = "<!-- END: calibration -->";

/// Writes or checks the generated files.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut generated = quick()?;
    let default = if args.check { Answer::No } else { Answer::Yes };
    if args.calibration.unwrap_or(default) == Answer::Yes {
        generated.push((METHODOLOGY, methodology(args.trials)?));
    }
    for (file, text) in &generated {
        if args.check {
            compare(file, text)?;
        } else {
            write(file, text)?;
        }
    }
    Ok(())
}

/// Checks everything that is quick to generate.
pub(crate) fn check() -> Result<()> {
    for (file, text) in quick()? {
        compare(file, &text)?;
    }
    Ok(())
}

fn quick() -> Result<Vec<(&'static str, String)>> {
    let schema = |value: serde_json::Value| -> Result<String> {
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    };
    Ok(vec![
        (SCHEMA, schema(becalm_model::wire::json_schema())?),
        (TOPOLOGY_SCHEMA, schema(becalm_model::wire::topology_json_schema())?),
        (BOOT_SCHEMA, schema(becalm_model::wire::boot_json_schema())?),
        (CHECK_SCHEMA, schema(becalm_model::wire::check_json_schema())?),
        (TUNE_SCHEMA, schema(becalm_model::wire::tune_json_schema())?),
        (TRACE_SCHEMA, schema(becalm_model::wire::trace_json_schema())?),
        (SERVICES_SCHEMA, schema(becalm_model::wire::services_json_schema())?),
        (PLAN_SCHEMA, schema(becalm_model::wire::plan_json_schema())?),
        (STEADY_SCHEMA, schema(becalm_model::wire::steady_json_schema())?),
        (WORKLOAD_SCHEMA, schema(becalm_model::wire::workload_json_schema())?),
        (PROBE_SCHEMA, schema(becalm_model::wire::probe_json_schema())?),
        (CPU_NOISE_SCHEMA, schema(becalm_model::wire::cpu_noise_json_schema())?),
        (REPRODUCE_SCHEMA, schema(becalm_model::wire::reproduce_json_schema())?),
        (ABLATE_SCHEMA, schema(becalm_model::wire::ablate_json_schema())?),
        (COMMANDS, reference(&build_becalm(Profile::Dev)?)?),
    ])
}

fn compare(file: &str, text: &str) -> Result<()> {
    let saved = fs::read_to_string(root().join(file))
        .with_context(|| format!("cannot read {file}; run `cargo xtask docs`"))?;
    ensure!(saved == text, "{file} is not up to date; run `cargo xtask docs`");
    Ok(())
}

fn write(file: &str, text: &str) -> Result<()> {
    let path = root().join(file);
    if fs::read_to_string(&path).is_ok_and(|saved| saved == text) {
        println!("{file}: up to date");
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&path, text).with_context(|| format!("cannot write {file}"))?;
    println!("{file}: written");
    Ok(())
}

/// Returns the help of every command as one page.
fn reference(becalm: &Path) -> Result<String> {
    let mut page = "<!-- Generated by `cargo xtask docs`; do not edit. -->\n\n# Commands\n\n\
                    What `becalm help` says, command by command.\n"
        .to_owned();
    append(&mut page, becalm, &[])?;
    Ok(page)
}

fn append(page: &mut String, becalm: &Path, path: &[&str]) -> Result<()> {
    let mut command = Command::new(becalm);
    command.arg("help").args(path).env("COLUMNS", "100").env("NO_COLOR", "1");
    let help = capture(&mut command)?;
    let name = [&["becalm"], path].concat().join(" ");
    write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end())?;
    for subcommand in subcommands(&help) {
        append(page, becalm, &[path, &[subcommand]].concat())?;
    }
    Ok(())
}

/// Returns the names in the list `Commands:` of a help text.
fn subcommands(help: &str) -> Vec<&str> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        // Names are indented by two; continued descriptions by more.
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect()
}

/// Returns the page on method with freshly simulated tables.
fn methodology(trials: u32) -> Result<String> {
    let page = fs::read_to_string(root().join(METHODOLOGY))
        .with_context(|| format!("cannot read {METHODOLOGY}, which is to hold the tables"))?;
    // The same tables as `becalm_stats::sim::calibration_markdown` returns here, but optimised:
    // minutes instead of an hour.
    let run =
        ["run", "--quiet", "--release", "--package", "becalm-stats", "--example", "calibrate"];
    let mut command = cargo(&run);
    command.args(["--", &trials.to_string(), &SEED.to_string()]);
    spliced(&page, capture(&mut command)?.trim())
}

/// Returns `page` with `text` between the markers.
fn spliced(page: &str, text: &str) -> Result<String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let Some((before, after)) = parts else {
        bail!("{METHODOLOGY} lacks `{BEGIN}` followed by `{END}`");
    };
    Ok(format!("{before}{BEGIN}\n\n{text}\n\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_between_the_markers_and_twice_is_like_once() {
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let once = spliced(&page, "new").unwrap();
        assert_eq!(once, format!("before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"));
        assert_eq!(spliced(&once, "new").unwrap(), once);
        assert!(spliced("no markers", "new").is_err());
    }

    #[test]
    fn subcommands_are_read_from_help() {
        let help = "Does things.\n\nUsage: x <COMMAND>\n\nCommands:\n  one     First\n          \
                    and more\n  two-b   Second\n  help    Print this\n\nOptions:\n  -h  Help\n";
        assert_eq!(subcommands(help), ["one", "two-b"]);
        assert!(subcommands("no list").is_empty());
    }
}
