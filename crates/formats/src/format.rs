//! The table of formats, and which one a file is of.

use becalm_model::{ImportFact, ImportNote, Record};

use crate::entry::Entry;
use crate::error::ImportError;
use crate::file::{File, expanded, name_of};
use crate::merge::merge;
use crate::{json, readers};

/// All formats, in the order in which they are tried. One that could take files of another stands
/// behind it.
pub const FORMATS: &[Entry] = &[
    readers::hyperfine::JSON,
    readers::hyperfine::CSV,
    readers::hyperfine_markdown::MARKDOWN,
    readers::hyperfine_tables::ASCIIDOC,
    readers::hyperfine_tables::ORG,
    readers::pytest_benchmark::JSON,
    readers::pytest_table::TEXT,
    readers::google_benchmark::JSON,
    readers::google_csv::CSV,
    readers::google_console::TEXT,
    // It has `runs` and `samples`, as files of pyperf have.
    readers::mitata::JSON,
    readers::mitata_text::TEXT,
    readers::pyperf::JSON,
    readers::jmh::JSON,
    readers::jmh_console::CSV,
    readers::jmh_console::TEXT,
    readers::benchmark_dotnet::JSON,
    readers::benchmark_dotnet_markdown::MARKDOWN,
    // It has `latency` and `throughput`, as tinybench has.
    readers::autocannon::JSON,
    readers::vegeta::JSON,
    readers::oha::JSON,
    readers::fortio::JSON,
    readers::hdr_log::TEXT,
    readers::tinybench::VITEST,
    readers::tinybench::TINYBENCH,
    readers::tinybench_table::TEXT,
    readers::artillery::JSON,
    readers::artillery::TEXT,
    readers::k6::JSON,
    readers::k6_console::TEXT,
    readers::gungraun::JSON,
    readers::asv::FOLDER,
    readers::nanobench::JSON,
    readers::nanobench_markdown::MARKDOWN,
    readers::codspeed::JSON,
    readers::github_action_benchmark::HISTORY,
    readers::github_action_benchmark::CUSTOM,
    readers::github_action_benchmark::SMALLER,
    readers::github_action_benchmark::BIGGER,
    readers::go::JSON,
    readers::go::TEXT,
    readers::criterion::FOLDER,
    readers::criterion_csv::CSV,
    readers::cargo_criterion::NDJSON,
    // criterion prints the lines of libtest too.
    readers::criterion_text::TEXT,
    readers::libtest::TEXT,
    readers::valgrind_text::TEXT,
    readers::divan::TEXT,
    readers::catch2_xml::XML,
    readers::catch2::JSON,
    readers::catch2::CONSOLE,
    // It begins as wrk does.
    readers::autocannon::TEXT,
    readers::wrk::TEXT,
    readers::apache_bench::TEXT,
    readers::fio::JSON,
    readers::jmeter::CSV,
    readers::jmeter::XML,
    readers::locust::CSV,
    readers::locust::JSON,
    readers::locust::TEXT,
    readers::sysbench::TEXT,
    readers::vegeta::TEXT,
    readers::krun::JSON,
    readers::krun::CSV,
    readers::sightglass::CSV,
    readers::sightglass::JSON,
    readers::csv_values::CSV,
    readers::haskell::CSV,
    readers::julia::JSON,
    readers::performance_entries::JSON,
    readers::benchmark_js::TEXT,
    readers::ruby::TEXT,
    readers::asv_console::TEXT,
    readers::short_lines::CRYSTAL,
    readers::short_lines::DART,
    readers::short_lines::LUAU,
    readers::short_lines::NODE,
    // Any command may have been measured with these, a benchmark tool too.
    readers::perf_stat::TEXT,
    readers::perf_stat::CSV,
    readers::gnu_time::TEXT,
    readers::shell_time::TEXT,
    // Any object of objects with a value could be one.
    readers::bmf::JSON,
];

/// Returns the format of this name.
pub fn entry(name: &str) -> Result<&'static Entry, ImportError> {
    FORMATS
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| ImportError::NoFormat { name: name.to_owned() })
}

/// Returns the first format that the files look like: all of them together, or each of several.
pub fn recognise(files: &[File]) -> Option<&'static Entry> {
    let files = expanded(files).ok()?;
    let together = FORMATS.iter().find(|entry| entry.is_of(&files));
    together.or_else(|| {
        let [first, others @ ..] = files.as_ref() else { return None };
        let entry = FORMATS.iter().find(|entry| entry.is_of(std::slice::from_ref(first)))?;
        others.iter().all(|file| entry.is_of(std::slice::from_ref(file))).then_some(entry)
    })
}

/// Reads the files of another tool: one file, or those of a folder. Without `format` it is found out by
/// the content.
pub fn import(files: &[File], format: Option<&str>) -> Result<Record, ImportError> {
    let files = expanded(files)?;
    let files = files.as_ref();
    if let [file] = files
        && file.bytes().trim_ascii().is_empty()
    {
        return Err(ImportError::Empty { file: file.name.clone() });
    }
    let entry = match format {
        Some(name) => entry(name)?,
        None => {
            recognise(files).ok_or_else(|| ImportError::Unrecognised { file: name_of(files) })?
        }
    };
    let mut record = match files {
        // As pytest-benchmark stores them: each is of further processes.
        [_, _, ..] if entry.takes_one() => {
            let records = files.iter().map(|file| entry.read(std::slice::from_ref(file)));
            let records = records.collect::<Result<Vec<_>, _>>()?;
            merge(records).ok_or_else(|| ImportError::Unrecognised { file: name_of(files) })?
        }
        files => entry.read(files)?,
    };
    if files.iter().any(json::has_bare_tokens) {
        record.notes.push(ImportNote::Known { what: ImportFact::NoNumbers }.into());
    }
    if let Some(source) = &mut record.source {
        entry.name.clone_into(&mut source.format);
    }
    Ok(record)
}
