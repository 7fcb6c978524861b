//! divan's tree.

use crate::common::{capture, condensed};
use crate::damage::never_panics;
use becalm_formats::{File, import};

#[test]
fn the_tree_has_types_arguments_threads_counters_and_allocations() {
    insta::assert_snapshot!(condensed(&capture("divan/divan-0.1.21_full.txt", "divan")));
}

#[test]
fn several_executables_are_subjects() {
    let text = "   Compiling x v0.1.0\nTimer precision: 20 ns\n\
        one      fastest       │ slowest       │ median        │ mean          │ samples │ iters\n\
        ├─ a b   1 ns          │ 2 ns          │ 1.5 ns        │ 1.6 ns        │ 1,000   │ 2000\n\
        ╰─ skip  (ignored)     │               │               │               │         │\n\n\
        two      fastest       │ slowest       │ median        │ mean          │ samples │ iters\n\
        ╰─ a b   1 s           │ 2 s           │ 1.5 s         │ 1.6 s         │ 10      │ 10\n";
    insta::assert_snapshot!(condensed(&import(&[File::of_text("a.txt", text)], None).unwrap()));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let error = |row: &str| {
        let text = format!("x  fastest │ slowest │ median │ mean │ samples │ iters\n{row}\n");
        import(&[File::of_text("a.txt", &text)], None).unwrap_err().to_string()
    };
    assert_eq!(
        error("╰─ a  1 ns │ 2 ns │ 3 │ 4 ns"),
        "a.txt, line 2: expected times in the columns fastest, slowest, median and mean, \
         found `╰─ a  1 ns │ 2 ns │ 3 │ 4 ns`"
    );
    assert_eq!(error(""), "a.txt: it contains no measurement");
}

#[test]
fn damaged_files_are_read_or_refused() {
    never_panics("divan", include_str!("../captures/divan/divan-0.1.21_full.txt"));
}
