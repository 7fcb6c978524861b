//! One file per tool, each with what its format holds and its traps on top.

pub(crate) mod asv_console;
pub(crate) mod benchmark_js;
pub(crate) mod cargo_criterion;
pub(crate) mod catch2;
pub(crate) mod catch2_xml;
pub(crate) mod criterion;
pub(crate) mod criterion_text;
pub(crate) mod csv_values;
pub(crate) mod divan;
pub(crate) mod go;
mod go_suffixes;
pub(crate) mod haskell;
pub(crate) mod hyperfine;
pub(crate) mod julia;
pub(crate) mod krun;
pub(crate) mod libtest;
pub(crate) mod performance_entries;
pub(crate) mod ruby;
pub(crate) mod shell_time;
pub(crate) mod short_lines;
pub(crate) mod sightglass;
pub(crate) mod table;
pub(crate) mod valgrind_text;
pub(crate) mod wrk;
