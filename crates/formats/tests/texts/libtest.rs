//! Rust's own harness.

use crate::common::{capture, condensed};
use crate::damage::never_panics;
use becalm_formats::{File, import};

#[test]
fn fractions_and_throughputs_are_read() {
    insta::assert_snapshot!(condensed(&capture("libtest-bench/self_nightly.txt", "libtest-bench")));
}

#[test]
fn targets_are_subjects_and_units_are_kept() {
    let text = "   Compiling x v0.1.0\n\
                test t ... ignored\ntest a b::c   ... bench:  13,967,756 ns/iter (+/- 266,769)\n\
                test cycles ... bench:        2835 cycles/iter (+/- 14)\n\
                test download ... bench:        9001 MS/s (+/- 69)\n\
                test fails ... FAILED\n\
                test talks ... hello\nmore\nbench:         12.5 us/iter (+/- 3)\n\
                \x20    Running target/release/deps/other-0123456789abcdef\n\
                test a b::c   ... bench:  5 ns/iter (+/- 1)\n";
    insta::assert_snapshot!(condensed(&import(&[File::of_text("a.txt", text)], None).unwrap()));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let error = |text: &str| {
        import(&[File::of_text("a.txt", text)], Some("libtest-bench")).unwrap_err().to_string()
    };
    assert_eq!(
        error("\ntest a ... bench: many ns/iter (+/- 1)\n"),
        "a.txt, line 2: expected `NUMBER UNIT/iter (+/- NUMBER)` after `bench:`, \
         found `test a ... bench: many ns/iter (+/- 1)`"
    );
    assert_eq!(error("test a ... ok\n"), "a.txt: it contains no measurement");
}

#[test]
fn damaged_files_are_read_or_refused() {
    let text = include_str!("../captures/libtest-bench/self_nightly.txt");
    never_panics("libtest-bench", text);
}
