//! What smaller tools print: benchmark.js, Ruby, ASV, Dart, Node, Crystal, the shell; and Julia's files.

use std::collections::BTreeMap;

use crate::common::{capture, condensed, told};
use crate::damage::never_panics;
use becalm_formats::{File, import};

const JS: &str = "Running 2 benchmarks on Chromium...\n\
    a x 1,431,759 ops/sec ±0.74% (93 runs sampled)\n\
    with x 2 many x 50 ops/sec ±150% (1 run sampled)\n\
    this x line says nothing\nbad: \nFastest is a\n";

const RUBY: &str = "Rehearsal ----------------------------------------\n\
    sort!   1.490000   0.010000   1.500000 (  1.490520)\n\
    -------------------------------- total: 1.500000sec\n\n\
    \x20           user     system      total        real\n\
    sort!   1.460000   0.000000   1.460000 (  1.460465)\n\
    a b:    1.450000   0.010000   1.460000 (  1.448327)\n";

const ASV: &str = "· Running 5 total benchmarks (1 commits * 2 environments * 5 benchmarks)\n\
    [  0.00%] · For project commit 4238c44d <main>:\n\
    [  0.00%] ·· Benchmarking virtualenv-py2.7\n\
    [ 10.00%] ··· Running (benchmarks.TimeSuite.time_keys--)....\n\
    [ 30.00%] ··· benchmarks.MemSuite.mem_list                         2.42k\n\
    [ 35.00%] ··· benchmarks.TimeSuite.time_keys                 11.1±0.01μs\n\
    [ 40.00%] ··· benchmarks.TimeSuite.time_range                     failed\n\
    [ 45.00%] ··· benchmarks.TimeSuite.time_params                        ok\n\
    [ 45.00%] ··· ======= =========\n\
    [ 50.00%] ·· Benchmarking virtualenv-py3.6\n\
    [ 60.00%] ··· benchmarks.TimeSuite.time_keys                  9.07±0.5μs\n\
    [ 70.00%] ··· benchmarks.track_score                                  42\n";

const JULIA: &str = r#"[{"Julia":"1.10.0","BenchmarkTools":"1.0.0"},[["BenchmarkGroup",{"data":{
    "fib":["BenchmarkGroup",{"data":{
        "10":["Trial",{"times":[300.0,100.0,200.0],"gctimes":[0.0,0.0,50.0],"memory":64,"allocs":2,
            "params":["Parameters",{"evals":390}]}],
        "20":["TrialEstimate",{"time":31028.0,"gctime":0.0,"memory":0,"allocs":0}]},"tags":["t"]}]
    },"tags":[]}]]]"#;

fn read(text: &str) -> String {
    condensed(&import(&[File::of_text("out.txt", text)], None).unwrap())
}

fn error(format: &str, text: &str) -> String {
    import(&[File::of_text("out.txt", text)], Some(format)).unwrap_err().to_string()
}

#[test]
fn benchmark_js_has_rates_with_intervals() {
    insta::assert_snapshot!(read(JS));
    assert_eq!(
        error("benchmark-js", "a x many ops/sec ±0.74% (93 runs sampled)"),
        "out.txt, line 1: expected `NAME x NUMBER ops/sec ±NUMBER% (NUMBER runs sampled)`, \
         found `a x many ops/sec ±0.74% (93 runs sampled)`"
    );
}

#[test]
fn ruby_has_a_rehearsal_that_is_a_warm_up() {
    insta::assert_snapshot!(read(RUBY));
}

#[test]
fn asv_has_environments_sizes_and_medians() {
    insta::assert_snapshot!(read(ASV));
}

#[test]
fn asv_prints_each_combination_of_parameters_as_its_files_have_it() {
    let all = |path: &str, format: &str| -> BTreeMap<String, f64> {
        let record = capture(path, format);
        let value = |at| record.values(0, at).first().copied();
        let metrics = record.metrics.iter().enumerate();
        metrics.filter_map(|(at, one)| Some((one.name.replace('\'', ""), value(at)?))).collect()
    };
    let printed = all("asv/v0.6.6_parameters.txt", "asv-console");
    let saved = all("asv/v0.6.6_parameters.json", "asv");
    let names = |values: &BTreeMap<String, f64>| values.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&printed), names(&saved));
    assert_eq!(printed.len(), 39);
    for (name, value) in &printed {
        // Three digits are printed of most, and two of `28M`.
        assert!((value / saved[name] - 1.0).abs() < 0.02, "{name}: {value} is {}", saved[name]);
    }
    let record = capture("asv/v0.6.6_parameters.txt", "asv-console");
    let notes: Vec<String> = record.notes.iter().map(told).collect();
    for (name, kind) in [
        ("b.Sorted.time_sort(1000, a tuple)", "NotRun"),
        ("b.time_fail(2)", "Failed"),
        ("b.time_all_fail(1)", "Failed"),
    ] {
        let is_told = |note: &&String| note.contains(name) && note.contains(kind);
        assert!(notes.iter().any(|note| is_told(&note)), "{name} in {notes:#?}");
    }
}

#[test]
fn a_table_of_asv_that_is_cut_off_is_skipped() {
    let whole = include_str!("../captures/asv/v0.6.6_parameters.txt");
    let (before, _) = whole.split_once("              1000   3.36").unwrap();
    let text = format!("{before}\n[9.0%] ··· b.time_x  1.0±0.1ms\n");
    let record = import(&[File::of_text("out.txt", &text)], None).unwrap();
    assert_eq!(record.metrics.len(), 1);
    assert!(record.notes.iter().map(told).any(|note| note.contains("AsvTables")));
    let without =
        "[1%] ··· b.time_x  1.0±0.1ms\n[2%] ··· b.time_y  ok\n[3%] ··· b.time_z  1.0±0.1ms\n";
    let record = import(&[File::of_text("out.txt", without)], None).unwrap();
    assert!(record.notes.iter().map(told).any(|note| note.contains("AsvTables")));
}

#[test]
fn julia_has_times_of_each_sample() {
    insta::assert_snapshot!(read(JULIA));
    assert_eq!(
        error(
            "julia",
            r#"[{"BenchmarkTools":"1"},[["BenchmarkGroup",{"data":{"a":["Trial",{"times":[1,"x"]}]}}]]]"#
        ),
        "out.txt, at [1][0][1].data[\"a\"][1].times[1]: expected a time, found `\\\"x\\\"`"
    );
    assert!(error("julia", &"[".repeat(100_000)).contains("recursion limit"));
}

#[test]
fn dart_node_and_crystal_have_one_line_per_benchmark() {
    insta::assert_snapshot!(read("Template(RunTime): 1.5 us.\nForLoop(RunTime): 2.0 us.\n"));
    insta::assert_snapshot!(read("default: 7617ms - timer ended\na: b: 1.5s - timer ended\nx\n"));
    insta::assert_snapshot!(read(
        "Warning: no release\nfib(10)   2.12M (472.18ns) (±10.19%)  0.0B/op         fastest\n\
         a b  17.56k ( 56.93µs) (± 8.95%)  16.5kB/op  120.58× slower\n"
    ));
}

#[test]
fn luau_and_haskell_have_means() {
    insta::assert_snapshot!(read(
        "SUCCESS: base64        :   15.041ms +/-  0.636% on luau\nTest | Min | Average\n"
    ));
    insta::assert_snapshot!(read(
        "Name,Mean,MeanLB,MeanUB,Stddev,StddevLB,StddevUB\nfib/1,1.5e-8,1.25e-8,1.75e-8,2e-10,1e-10,3e-10\n\
         Name,Mean,MeanLB,MeanUB,Stddev,StddevLB,StddevUB\n\"a, b\",1,1,1,0,0,0\n"
    ));
    insta::assert_snapshot!(read(
        "Name,Mean (ps),2*Stdev (ps),Allocated,Copied,Peak Memory\nAll.fib,63000,3400,10,20,30\n"
    ));
    assert_eq!(
        error("haskell-csv", "Name,Mean,MeanLB\na,fast,1\n"),
        "out.txt, line 2: expected a number as Mean, found `fast`"
    );
}

const GUNGRAUN: &str = "running 0 tests\n\ntest result: ok. 0 passed; finished in 0.00s\n\n\
    warning: noise\n\
    a::group::fib short:10\n\
    \x20 ======= CALLGRIND =====\n\
    \x20 Instructions:                1734|1650            (+5.09090%) [+1.04844x]\n\
    \x20 LL Hit Rate:                 0.25|N/A             (*********)\n\
    \x20 ======= DHAT =====\n\
    \x20 Total bytes:                29499|N/A             (*********)\n\
    a::group::fib id_1:two\nlines\n\
    \x20 Instructions:                   7|N/A             (*********)\n\n\
    Regressions:\n\n\x20 a::group::fib short:\n\
    \x20   Callgrind: Instructions (1650 -> 1734): +5.09090% exceeds limit of +5.0%\n";

#[test]
fn valgrind_s_counts_are_read() {
    insta::assert_snapshot!(read(GUNGRAUN));
    insta::assert_snapshot!(read(
        "bench_short\n  Instructions:    1243 (+1.139138%)\n  L1 Accesses:     1580 (No change)\n\n\
         bench_long\n  Instructions:    18454953\n"
    ));
}

#[test]
fn performance_entries_are_in_milliseconds() {
    insta::assert_snapshot!(read(
        r#"[{"name":"fib","duration":1234,"startTime":1337,"entryType":"measure"},
            {"name":"fib","duration":0.5,"startTime":0,"entryType":"measure"},
            {"name":"begun","duration":0,"startTime":0,"entryType":"mark"}]"#
    ));
}

#[test]
fn the_shell_s_time_has_three_lines_per_process() {
    insta::assert_snapshot!(read(
        "Hello\n\nreal\t0m0.100s\nuser\t0m0.020s\nsys\t0m0.003s\n\nreal 61.5\nuser 1m0.5s\nsys 0.25\n"
    ));
}

#[test]
fn the_shell_s_time_has_a_comma_in_many_languages() {
    for text in
        ["real\t1m0,510s\nuser\t0m0,429s\nsys\t0m0,080s\n", "real 60,51\nuser 0,43\nsys 0,08\n"]
    {
        let record = import(&[File::of_text("out.txt", text)], None).unwrap();
        let wall = record.metric_index("wall_time").unwrap();
        assert_eq!(record.values(0, wall), [60.51]);
    }
}

#[test]
fn damaged_files_are_read_or_refused() {
    never_panics("benchmark-js", JS);
    never_panics("ruby-benchmark", RUBY);
    never_panics("asv-console", ASV);
    never_panics("asv-console", include_str!("../captures/asv/v0.6.6_parameters.txt"));
    never_panics("julia", JULIA);
    never_panics("luau", "SUCCESS: base64 :   15.041ms +/-  0.636% on luau\n");
    never_panics("haskell-csv", "Name,Mean,MeanLB\na,1e-9,1e-9\nb,2e-9,1e-9\n");
    never_panics("gungraun-text", GUNGRAUN);
    never_panics("dart", "Template(RunTime): 1.0 us.\nForLoop(RunTime): 2.0 us.\n");
    never_panics("console-time", "a: b: 7617ms - timer ended\nc: 1.5s - timer ended\n");
    never_panics("crystal", "fib(10)   2.12M (472.18ns) (±10.19%)  0.0B/op  fastest\n");
    never_panics("time", "real\t0m0.100s\nuser\t0m0.020s\nsys\t0m0.003s\n");
}
