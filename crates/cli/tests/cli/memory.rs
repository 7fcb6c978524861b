//! Where subjects work, and what becomes of memory that they free.

use becalm_testkit::skipped;

use crate::support::{Measures as _, env, json};

#[test]
fn subjects_and_hooks_work_in_a_folder_in_memory_that_is_removed() {
    let env = env();
    env.write("input", "from here");
    let output = env.measure(&[
        "--in-memory",
        "--rounds=2",
        "--setup=cp $OLDPWD/input .",
        "--cleanup=test -s output && pwd > $OLDPWD/place",
        "--export-json=record.json",
        "--",
        "sh",
        "-c",
        "cat input >> output",
    ]);
    if output.stderr.contains("no folder can be made in /dev/shm") {
        return skipped("subjects_and_hooks_work_in_a_folder_in_memory: /dev/shm is no tmpfs here");
    }
    let _ = output.exits_with(0);
    let place = env.read("place");
    assert!(place.starts_with("/dev/shm/becalm-work-"), "{place}");
    assert!(!std::path::Path::new(place.trim()).exists());
    let record = env.record("record.json");
    assert_eq!(record["conditions"]["in_memory"], place.trim());
}

/// Takes and frees a block larger than glibc ever keeps by itself (`DEFAULT_MMAP_THRESHOLD_MAX`, 32 MiB).
const LARGE_BLOCKS: &str = "for (1..10) { my $x = 'a' x (40 << 20); undef $x; }";

#[test]
fn freed_memory_is_kept_where_that_is_asked_for() {
    let env = env();
    let faults = |flags: &[&str]| {
        let subject = ["--json", "--rounds=1", "--", "perl", "-e", LARGE_BLOCKS];
        let record = json(&env.measure(&[flags, &subject[..]].concat()).exits_with(0).stdout);
        let runs = &record["subjects"][0]["runs"];
        let measured = runs.as_array().unwrap().iter().rfind(|run| run["warmup"] != true);
        let faults = measured.unwrap()["metrics"]["page_faults"].as_f64().unwrap();
        (faults, record["conditions"]["malloc"].clone())
    };
    let (given_back, malloc) = faults(&[]);
    assert_eq!(malloc, serde_json::Value::Null);
    let (kept, malloc) = faults(&["--malloc=keep"]);
    assert_eq!(malloc, "keep");
    // A count, and no time: every page once, instead of once for each block.
    assert!(kept < given_back / 2.0, "{kept} faults, {given_back} where memory is given back");
}

#[test]
fn the_users_own_settings_of_the_allocator_count() {
    let env = env();
    let output = env
        .measure(&[
            "--malloc=keep",
            "--env=GLIBC_TUNABLES=glibc.malloc.mmap_max=7",
            "--output=inherit",
            "--rounds=1",
            "--",
            "printenv",
            "GLIBC_TUNABLES",
        ])
        .exits_with(0);
    assert!(output.stdout.contains("mmap_max=0:glibc.malloc.mmap_max=7\n"), "{}", output.stdout);
}

#[test]
fn without_a_command_there_is_nothing_to_keep_in_memory() {
    let output = env().run(["tune", "--in-memory"]).exits_with(2);
    assert!(output.stderr.contains("add --hold"), "{}", output.stderr);
}

/// Pages that `mlockall` fills in are no faults for perf, and the kernel tells them as such to whoever waits.
#[test]
fn page_faults_are_those_that_perf_counts() {
    let env = env();
    let faults = |flags: &[&str]| {
        let subject =
            ["--json", "--rounds=1", "--warmup=0", "--", env!("CARGO_BIN_EXE_becalm"), "workload"];
        let work = ["array-sum", "--iterations=1"];
        let words = [&subject[..], &work, flags].concat();
        let record = json(&env.measure(&words).exits_with(0).stdout);
        let metrics = record["subjects"][0]["runs"][0]["metrics"].clone();
        (metrics["page_faults"].as_f64().unwrap(), metrics["cpu_migrations"].is_number())
    };
    if env.run(["workload", "array-sum", "--iterations=1", "--mlock"]).status.code() != Some(0) {
        return skipped("page_faults_are_those_that_perf_counts: memory cannot be locked here");
    }
    let (usual, can_count) = faults(&[]);
    if !can_count {
        return skipped(
            "page_faults_are_those_that_perf_counts: the kernel lets nobody count here",
        );
    }
    let (locked, _) = faults(&["--mlock"]);
    // The array has 1,024 pages.
    assert!(locked + 500.0 < usual, "{locked} after mlockall, {usual} without");
}
