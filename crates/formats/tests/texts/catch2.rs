//! Catch2's reporters.

use crate::common::{capture, condensed, files};
use crate::damage::never_panics;
use becalm_formats::{File, import};

#[test]
fn xml_has_means_with_intervals() {
    insta::assert_snapshot!(condensed(&capture("catch2/self_v3_benchmark.xml", "catch2-xml")));
}

#[test]
fn the_console_has_the_same() {
    insta::assert_snapshot!(condensed(&capture("catch2/self_v3_console.txt", "catch2-console")));
}

#[test]
fn the_json_reporter_has_no_benchmarks() {
    assert_eq!(
        import(&files("catch2/self_v3.json"), None).unwrap_err().to_string(),
        "catch2/self_v3.json: Catch2's JSON reporter writes no benchmarks; use `--reporter xml`"
    );
}

#[test]
fn version_2_failures_and_generators_are_read() {
    let text = r#"noise < before
<?xml version="1.0"?><Catch name="x"><Group name="x"><TestCase name="a &amp; b">
<BenchmarkResults name="n" samples="1"><mean value="2e+09" lowerBound="1e9" upperBound="nan"/></BenchmarkResults>
<BenchmarkResults name="n"><mean value="5"/><standardDeviation value="nan"/></BenchmarkResults>
<BenchmarkResults name="bad"><failed message="no &lt;"/></BenchmarkResults>
</TestCase></Group></Catch>"#;
    insta::assert_snapshot!(condensed(&import(&[File::of_text("a.xml", text)], None).unwrap()));
}

#[test]
fn long_names_and_two_runs_are_read() {
    let rule = "-".repeat(79);
    let text = format!(
        "~~~\nx is a Catch v2.11.0 host application.\nRun with -? for options\n\n\
         {rule}\nCase\n  inner\n{rule}\n/a/b.cpp:5\n{}\n\n\
         benchmark name          samples       iterations    estimated\n\
         \x20                       mean          low mean      high mean\n\
         {rule}\n\
         a name that takes two                            \n\
         lines 7                     100           208     7.1968 ms \n\
         \x20                      344 ns        341 ns        349 ns \n\
         \x20                       19 ns         11 ns         29 ns \n\
         \x20                                                        \n\
         broken                      100           208     7.1968 ms \n\
         \n\
         {}\n",
        ".".repeat(79),
        "=".repeat(79)
    );
    let record = import(&[File::of_text("a.txt", &text.repeat(2))], None).unwrap();
    insta::assert_snapshot!(condensed(&record));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let error = |text: &str| {
        import(&[File::of_text("a.xml", text)], Some("catch2-xml")).unwrap_err().to_string()
    };
    assert_eq!(
        error(
            "<Catch2TestRun>\n<TestCase name=\"a\">\n<BenchmarkResults name=\"b\">\n<mean value=\"x\"/>"
        ),
        "a.xml, line 4: expected a number as `value`, found `x`"
    );
    assert_eq!(
        error("<Catch2TestRun>\n<TestCase name=\"a\">\n"),
        "a.xml, line 3: expected the end of every element, found `the end`"
    );
    assert_eq!(
        error("<Catch2TestRun>\n<BenchmarkResults name=\"&lol;\"/>"),
        "a.xml, line 2: expected attributes of XML, found `at 1..4: unrecognized entity `lol``"
    );
    assert_eq!(error("<Catch2TestRun name=\"a\"/>"), "a.xml: it contains no measurement");
    assert_eq!(error("hello"), "a.xml: it contains no report of Catch2");
}

#[test]
fn damaged_files_are_read_or_refused() {
    let text = include_str!("../captures/catch2/self_v3_benchmark.xml");
    never_panics("catch2-xml", text);
    let text = include_str!("../captures/catch2/self_v3_console.txt");
    never_panics("catch2-console", text);
}

#[test]
fn tabs_between_the_words_of_a_line_are_no_place_to_cut() {
    let text = "benchmark name  samples  iterations  est run time\n\t5117114,2421.375\": 16666666.677,\n\t 1 \t2 3 ns";
    let file = File::of_text("c.txt", text);
    assert!(import(&[file], Some("catch2-console")).is_err());
}
