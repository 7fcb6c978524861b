//! Tables and results with one list per process: Krun, `warmup_stats`, Sightglass, becalm's own CSV.

use crate::common::condensed;
use crate::damage::never_panics;
use becalm_formats::{File, import};
use becalm_model::Record;

const KRUN: &str = r#"{"wallclock_times": {"fasta:PyPy:default-python": [[0.5, 0.25, 0.125], []],
    "richards:PyPy:default-python": [[1.5]]}, "core_cycle_counts": {"fasta:PyPy:default-python": [[[1]]]},
    "audit": {"uname": "Linux bencher8 4.9.0-3-amd64 #1 SMP x86_64"}, "reboots": 0}"#;

const WARMUP: &str = "process_exec_idx,bench_name,0,1,2\n0,spectral norm,0.2,0.1,0.4\n\
                      1, spectral norm, 0.3, 0.15\n";

const SIGHTGLASS: &str = "arch,engine,wasm,process,iteration,phase,event,count\n\
    x86_64,a.so,noop.wasm,100,0,Compilation,cycles,2000\n\
    x86_64,a.so,noop.wasm,100,1,Compilation,cycles,1800\n\
    x86_64,a.so,noop.wasm,100,0,Execution,nanoseconds,500\n\
    x86_64,b.so,noop.wasm,200,0,Compilation,cycles,900\n\
    x86_64,a.so,noop.wasm,101,0,Compilation,cycles,1900\n";

const OWN: &str = "subject,benchmark,metric,unit,direction,run,iteration,value,statistic,exact,warmup\n\
    a,,wall_time,s,lower,0,,0.1,,,\n\
    a,,wall_time,s,lower,1,,0.30000000000000004,,,\n\
    a,x,x,s,lower,0,1,2e-9,,,\n\
    a,x,x,s,lower,0,0,1e-9,,false,\n\
    a,x,x ops,ops/s,higher,0,,5,median,true,\n\
    \" b, c\",x,x,s,lower,0,,7,,,true\n";

fn read(text: &str) -> Record {
    import(&[File::of_text("a.csv", text)], None).unwrap()
}

fn error(format: &str, text: &str) -> String {
    import(&[File::of_text("a.csv", text)], Some(format)).unwrap_err().to_string()
}

#[test]
fn krun_has_one_list_per_process() {
    insta::assert_snapshot!(condensed(&read(KRUN)));
}

#[test]
fn a_packed_file_is_to_be_unpacked() {
    let file = File::new("a.json.bz2", b"BZh91AY&SY\xff\xfe".to_vec());
    assert_eq!(
        import(&[file], None).unwrap_err().to_string(),
        "a.json.bz2: it is packed; unpack it with `bunzip2` first"
    );
}

#[test]
fn warmup_stats_has_one_row_per_process() {
    insta::assert_snapshot!(condensed(&read(WARMUP)));
    assert_eq!(
        error("warmup-stats", "process_exec_idx,bench_name,0\n0,a,fast\n"),
        "a.csv, line 2: expected a time, found `fast`"
    );
}

#[test]
fn sightglass_has_engines_processes_and_phases() {
    insta::assert_snapshot!(condensed(&read(SIGHTGLASS)));
    let json = r#"[{"arch":"x86_64","engine":"a.so","engine_flags":"-O opt-level=0","wasm":"n.wasm",
        "process":1,"iteration":0,"phase":"Execution","event":"instructions-retired","count":5}]"#;
    insta::assert_snapshot!(condensed(&read(json)));
    assert_eq!(
        error("sightglass", &json.replace("\"-O opt-level=0\"", "[\"-O\"]")),
        "a.csv, at [0].engine_flags: expected a text, found `a list`"
    );
    assert_eq!(
        error("sightglass", &json.replace("\"iteration\":0", "\"iteration\":-1")),
        "a.csv, at [0].iteration: expected a whole number, found `-1`"
    );
    assert_eq!(
        error("sightglass-csv", "arch,engine,phase,event,count\n"),
        "a.csv, line 1: expected a column `wasm`, found `arch,engine,phase,event,count`"
    );
}

#[test]
fn becalms_own_table_has_everything() {
    let record = read(OWN);
    insta::assert_snapshot!(condensed(&record));
    assert_eq!(record.runs[1].values, [Some(0.1 + 0.2)]);
    assert_eq!(record.subjects[1].name, " b, c");
}

#[test]
fn what_is_wrong_in_becalms_own_table_is_named_with_its_line() {
    let error = |rows: &str| {
        let header = "subject,benchmark,metric,unit,direction,run,iteration,value\n";
        error("csv", &format!("{header}{rows}"))
    };
    assert_eq!(
        error("a,,t,s,down,0,,1\n"),
        "a.csv, line 2: expected `lower` or `higher` as direction, found `down`"
    );
    assert_eq!(
        error("a,,t,s,lower,0,,1\na,,t,B,lower,1,,1\n"),
        "a.csv, line 3: expected the same unit, direction and benchmark as in the rows before, \
         found `t`"
    );
    assert_eq!(
        error("a,,t,s,lower,0,,NaN\n"),
        "a.csv, line 2: expected a finite number as value, found `NaN`"
    );
    assert_eq!(
        error("a,,t,s,lower,-1,,1\n"),
        "a.csv, line 2: expected a number as run, found `-1`"
    );
    assert_eq!(
        error("a,,t,s,lower,0,,1\na,,t,s,lower,0,,2\n"),
        "a.csv, line 3: expected one value per subject, metric, run and iteration, found `another`"
    );
    assert_eq!(error(""), "a.csv: it contains no measurement");
}

#[test]
fn many_metrics_of_many_processes_are_refused() {
    let mut text = "subject,benchmark,metric,unit,direction,run,iteration,value\n".to_owned();
    for row in 0..20_000 {
        text.extend(["a,,m", &row.to_string(), ",s,lower,", &row.to_string(), ",,1\n"]);
    }
    assert_eq!(
        error("csv", &text),
        "a.csv, at metric: expected processes that have most of the metrics, \
         found `20000 metrics of 20000 processes`"
    );
}

#[test]
fn damaged_files_are_read_or_refused() {
    never_panics("krun", KRUN);
    never_panics("warmup-stats", WARMUP);
    never_panics("sightglass-csv", SIGHTGLASS);
    never_panics("csv", OWN);
}
