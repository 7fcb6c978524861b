//! Files that earlier versions saved: this version makes of them what those did.
//!
//! Beside each file stand the answers of the version that saved it. Every command that they name is run again,
//! and its answer is held against theirs, field by field. The tables below are all that may differ.

mod broken;
mod reworded;

use std::path::{Path, PathBuf};

use becalm_machine::{NoiseRanking, SysRoot};
use becalm_model::CpuId;
use becalm_testkit::{FakeTree, TestEnv};
use serde_json::{Map, Value};

use self::reworded::REWORDED;
use crate::support::{env, git, has_git, json, with};

/// Fields that a later version has beside those of an earlier one.
const ADDED: [&str; 8] =
    ["terms", "too_few", "old", "new", "change", "size", "mean_before", "mean_after"];

/// What lines have in them that a later version says beside those of an earlier one.
const ADDED_LINES: [&str; 1] = [" too few values ("];

/// Fields that have another name in later versions.
const RENAMED: [(&str, &str); 2] = [("settings", "conditions"), ("layout", "padding")];

/// Fields whose sentences stand in an object in later versions, as its `text`.
const SENTENCES: [&str; 5] = ["notes", "limits", "interrupted", "next", "reason"];

/// Makes a value of the words that stood in its place.
type Make = fn(&str) -> Value;

/// Conditions that were written as words and are values now, with what makes the one of the other. What was empty
/// because nobody knew it is absent.
const CONDITIONS: [(&str, Make); 2] = [
    ("rest", |share| becalm_model::parse_share(share).unwrap().into()),
    ("harness", |words| vec![words].into()),
];

/// Numbers that are found in another way since: what a pilot leaves open covers as often as it says.
const RECKONED_ANEW: [&str; 2] = ["counts_low", "counts_high"];

/// What a later version of the detector finds a little elsewhere: the levels of a change, and the entry that showed it.
const FOUND_ANEW: [&str; 4] = ["before", "after", "value", "first_seen_entry"];

/// By how much that may differ, as a share.
const NEAR: f64 = 0.04;

/// When something was found, which may have been by this very test.
const MOMENTS: [&str; 1] = ["first_seen"];

/// Facts that have to be those of this machine for a session to go on here.
const OF_THIS_MACHINE: [&str; 4] = ["cpu_model", "kernel_release", "microcode", "cpu_online"];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/0.1")
}

/// What an answer is not any more.
#[derive(Default)]
struct Differences {
    found: Vec<String>,
    /// Whether the numbers are read, and not computed: then they are the same to the last digit.
    is_read: bool,
}

impl Differences {
    /// Rounding of a sum or power that a build with optimisation makes in another order than one without; the old
    /// answers are those of a release.
    const ROUNDING: f64 = 1e-12;

    fn add(&mut self, what: String) {
        self.found.push(what);
    }

    fn are_same(&self, before: Option<f64>, now: Option<f64>) -> bool {
        let (Some(before), Some(now)) = (before, now) else { return false };
        before.total_cmp(&now).is_eq()
            || !self.is_read && (before - now).abs() <= Self::ROUNDING * before.abs()
    }

    #[track_caller]
    fn are_none(&self) {
        assert!(
            self.found.is_empty(),
            "{} differences:\n{}",
            self.found.len(),
            self.found.join("\n")
        );
    }
}

/// Returns the files of one kind, by name.
fn files(kind: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(corpus().join(kind)).expect("the corpus is complete");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn name(file: &Path) -> &str {
    file.file_name().and_then(|name| name.to_str()).expect("files of the corpus have plain names")
}

fn has_ending(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|one| one == ending)
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Returns what the version that saved a file answered about it.
fn answers(kind: &str, name: &str) -> Vec<Value> {
    let name = if kind == "histories" || has_ending(name, "jsonl") {
        format!("{name}.json")
    } else {
        name.to_owned()
    };
    let all = json(&read(&corpus().join("answers").join(kind).join(name)));
    all["answers"].as_array().unwrap().clone()
}

/// Says whether only later versions have such a line.
fn is_added(line: &str) -> bool {
    ADDED_LINES.iter().any(|added| line.contains(added))
}

/// Holds an answer against an earlier one; adds what differs and is not meant to.
fn compare(before: &Value, now: &Value, at: &str, differences: &mut Differences) {
    match (before, now) {
        (Value::Object(before), Value::Object(fields)) => {
            let moved = fields.get("revision").and_then(|_| with_revision(before));
            let before = moved.as_ref().unwrap_or(before);
            for (key, value) in before {
                // A history keeps documents as they were.
                let are_conditions =
                    before.contains_key("affinity_reason") && !fields.contains_key("layout");
                let words = value.as_str().filter(|_| are_conditions).unwrap_or_default();
                let made = CONDITIONS.iter().find(|(name, _)| name == key && !words.is_empty());
                let made = made.map(|(_, make)| make(words));
                let value = made.as_ref().unwrap_or(value);
                let at = format!("{at}.{key}");
                let renamed = RENAMED.iter().find(|(old, _)| old == key).map(|(_, new)| *new);
                match fields.get(key).or_else(|| fields.get(renamed?)) {
                    Some(now) if key == "schema" => compare_schema(value, now, &at, differences),
                    Some(now) if MOMENTS.contains(&key.as_str()) => {
                        assert!(now.as_f64() >= value.as_f64(), "{at}: {now} is before {value}");
                    }
                    Some(now) if RECKONED_ANEW.contains(&key.as_str()) => {
                        assert!(now.is_number() == value.is_number(), "{at}: {now}");
                    }
                    Some(now)
                        if FOUND_ANEW.contains(&key.as_str())
                            && is_of_detector(&at)
                            && are_near(value.as_f64(), now.as_f64()) => {}
                    Some(now) if SENTENCES.contains(&key.as_str()) => {
                        let (before, mut now) = (sentences(value), sentences(now));
                        if let Some(now) = now.as_array_mut() {
                            now.retain(|one| !one.as_str().is_some_and(is_added));
                        }
                        compare(&before, &now, &at, differences);
                    }
                    Some(now) => compare(value, now, &at, differences),
                    None if value.is_null() || are_conditions && value == "" => {}
                    None => differences.add(format!("{at}: {value} is gone")),
                }
            }
            for (key, value) in fields {
                let is_renamed =
                    RENAMED.iter().any(|(old, new)| new == key && before.contains_key(*old));
                if !before.contains_key(key) && !is_renamed && !ADDED.contains(&key.as_str()) {
                    differences.add(format!("{at}.{key}: {value} is new"));
                }
            }
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            for (index, (before, now)) in before.iter().zip(now).enumerate() {
                compare(before, now, &format!("{at}[{index}]"), differences);
            }
        }
        (Value::Number(before), Value::Number(now))
            if differences.are_same(before.as_f64(), now.as_f64()) => {}
        (Value::String(before), Value::String(now))
            if are_reworded(&without_versions(before), &without_versions(now))
                || is_of_detector(at) && say_nearly_the_same(before, now) => {}
        _ if before == now => {}
        _ => differences.add(format!("{at}: {before} is now {now}")),
    }
}

/// A revision stood among the parameters of its subject, and has a field of its own.
fn with_revision(subject: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut subject = subject.clone();
    let parameters = subject.remove("parameters")?;
    let fields = parameters.as_array()?.iter().map(|pair| {
        let name = pair[0].as_str().expect("parameters have names");
        (if name == "revision" { "built" } else { name }.to_owned(), pair[1].clone())
    });
    let revision: Map<String, Value> = fields.collect();
    subject.insert("revision".to_owned(), revision.into());
    Some(subject)
}

/// Leaves out in which version records are read.
fn without_versions(text: &str) -> String {
    let names = ["comparison", "run", "import"].map(|name| format!("becalm/{name}/"));
    names.iter().fold(text.to_owned(), |text, name| {
        let mut parts = text.split(name.as_str());
        let first = parts.next().unwrap_or_default().to_owned();
        let digits = |part: &str| part.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
        parts.fold(first, |text, part| text + name + &digits(part))
    })
}

/// A document has the schema that it had, in the same version or a later one.
fn compare_schema(before: &Value, now: &Value, at: &str, differences: &mut Differences) {
    let parts = |schema: &Value| {
        let (name, version) = schema.as_str()?.rsplit_once('/')?;
        Some((name.to_owned(), version.parse::<u32>().ok()?))
    };
    let is_later = parts(before)
        .zip(parts(now))
        .is_some_and(|(before, now)| before.0 == now.0 && before.1 <= now.1);
    if !is_later {
        differences.add(format!("{at}: {before} is now {now}"));
    }
}

/// Returns the sentences of a field, which may stand in objects.
fn sentences(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(sentences).collect(),
        Value::Object(fields) => fields.get("text").map_or(value.clone(), sentences),
        // `gate` once put full stops behind the notes of records in JSON, too.
        Value::String(sentence) => sentence.trim_end_matches('.').into(),
        other => other.clone(),
    }
}

/// Asks again what an earlier version has answered, in the same place.
fn ask(env: &TestEnv, file: &Path, answer: &Value, differences: &mut Differences) {
    let command: Vec<&str> =
        answer["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let at = command.join(" ");
    if let Some(resumed) = answer.get("resumed") {
        return resume(env, file, answer, resumed, differences);
    }
    // Changes before the last 30 points did not count then, where nobody said how many.
    let is_of_changes = command[..] == ["gate", "--json", "--store", name(file)];
    let last: &[&str] = if is_of_changes { &["--last", "30"] } else { &[] };
    let output = env.run([&command[..], last].concat());
    let (before, now) = (&answer["exit"], output.status.code());
    if before.as_i64() != now.map(i64::from) {
        return differences
            .add(format!("{at}: exit code {before} is now {now:?}: {}", output.stderr));
    }
    let lines = |text: &str| text.lines().map(Value::from).collect::<Value>();
    if let Some(text) = answer.get("text") {
        let is_legend =
            |line: &&str| command[0] == "diff" && LEGENDS.iter().any(|one| line.starts_with(one));
        let now: Vec<&str> =
            output.stdout.lines().filter(|line| !is_legend(line) && !is_added(line)).collect();
        let text = &relabelled(text, &command);
        if command[..].contains(&"show") {
            compare_shown(text, &now, &at, differences);
        } else if !is_reworded(text, &now) {
            compare(text, &now.into(), &at, differences);
        }
    }
    if answer["same"] == true {
        differences.is_read = true;
        compare(&json(&read(file)), &json(&output.stdout), &at, differences);
        differences.is_read = false;
    }
    if let Some(document) = answer.get("json") {
        compare(document, &json(&output.stdout), &at, differences);
    }
    let found = answer.get("found");
    if let Some(found) = found {
        compare_found(found, &json(&output.stdout), &at, differences);
    }
    // What a session refuses to go on with may be said better; that it refuses must stay.
    if let Some(said) = answer.get("said").filter(|_| !command.contains(&"--resume")) {
        compare(said, &lines(&output.stderr), &at, differences);
    }
    for (path, content) in answer.get("after").and_then(Value::as_object).into_iter().flatten() {
        let now = std::fs::read_to_string(env.work().join("tree").join(path)).ok();
        if content.as_str() != now.as_deref() {
            differences.add(format!("{at}: {path}: {content} is now {now:?}"));
        }
    }
}

/// What `diff` says since of the names that its table has.
const LEGENDS: [&str; 5] =
    ["  A  sh -c 'echo t: 12", "  n=1  FOO=1 ", "  n=2  FOO=2 ", "  n=20   echo", "  n=300  echo"];

/// Subjects that differ in a parameter are called by it since, and were called by letters.
const CALLED: [(&str, [(&str, &str); 2]); 2] = [
    ("import-hyperfine.json", [("A", "n=1"), ("B", "n=2")]),
    ("run-parameter-list.json", [("A", "n=20"), ("B", "n=300")]),
];

/// Calls the subjects of a saved answer as they are called today.
fn relabelled(text: &Value, command: &[&str]) -> Value {
    let Some((_, names)) = CALLED.iter().find(|(file, _)| command.contains(file)) else {
        return text.clone();
    };
    let called = |word: &str| {
        let bare = word.trim_end_matches(':');
        let name = names.iter().find(|(letter, _)| *letter == bare).map(|(_, name)| *name);
        name.map_or(word.to_owned(), |name| word.replacen(bare, name, 1))
    };
    let lines = text.as_array().into_iter().flatten().filter_map(Value::as_str);
    lines
        .map(|line| Value::from(line.split(' ').map(called).collect::<Vec<_>>().join(" ")))
        .collect()
}

/// Returns the words of lines, which may break elsewhere where others were before them.
fn words<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    lines.into_iter().flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Puts what was said in other words since into those words.
fn reworded(text: &str) -> String {
    REWORDED.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}

/// Says whether two texts differ in their words alone. A record keeps its sentences, so old words may stand beside new
/// ones in an answer of today.
fn are_reworded(before: &str, now: &str) -> bool {
    let before = reworded(before);
    before == now || before == reworded(now)
}

/// Says whether a place is in an answer of the detector of changes.
fn is_of_detector(at: &str) -> bool {
    at.starts_with("changes ") || at.starts_with("gate ")
}

fn are_near(before: Option<f64>, now: Option<f64>) -> bool {
    before.zip(now).is_some_and(|(before, now)| (before - now).abs() <= NEAR * before.abs())
}

/// Says whether two lines differ in numbers alone, and not by much.
fn say_nearly_the_same(before: &str, now: &str) -> bool {
    let (before, now) = (reworded(before), reworded(now));
    let (before, now): (Vec<&str>, Vec<&str>) =
        (before.split_whitespace().collect(), now.split_whitespace().collect());
    let are_same = |(one, other): (&&str, &&str)| {
        one == other || are_near(one.parse().ok(), other.parse().ok())
    };
    before.len() == now.len() && before.iter().zip(&now).all(are_same)
}

/// Reports whether lines say the same in the words of today; these may break elsewhere.
fn is_reworded(before: &Value, now: &[&str]) -> bool {
    let before = before.as_array().into_iter().flatten().filter_map(Value::as_str);
    are_reworded(&words(before), &words(now.iter().copied()))
}

/// `show` prints more than it did, and nothing less.
fn compare_shown(before: &Value, now: &[&str], at: &str, differences: &mut Differences) {
    let lines = before.as_array().into_iter().flatten().filter_map(Value::as_str);
    let lines: Vec<&str> = lines.collect();
    let now = words(now.iter().copied());
    let is_there = |line: &str| now.contains(&words([line]));
    // Lines break elsewhere where a sentence has other words now.
    for gone in lines.chunk_by(|one, next| !is_there(one) && !is_there(next)) {
        let text = words(gone.iter().copied());
        let text_now = reworded(&text);
        if ![&text, &text_now].iter().any(|text| now.contains(*text))
            && !reworded(&now).contains(&text_now)
        {
            differences.add(format!("{at}: `{text}` is gone"));
        }
    }
}

/// A search measures anew, so what it has found is all that is the same.
fn compare_found(before: &Value, now: &Value, at: &str, differences: &mut Differences) {
    for (key, before) in before.as_object().unwrap() {
        match before {
            Value::Object(ends) => {
                for (end, before) in ends {
                    compare(before, &now[key][end], &format!("{at}: {key}.{end}"), differences);
                }
            }
            _ => compare(before, &now[key], &format!("{at}: {key}"), differences),
        }
    }
}

/// Goes on with a session that has all its rounds, and expects what was concluded from them before.
fn resume(
    env: &TestEnv,
    file: &Path,
    answer: &Value,
    resumed: &Value,
    differences: &mut Differences,
) {
    for (name, text) in answer.get("needs").and_then(Value::as_object).into_iter().flatten() {
        let path = env.work().join(name);
        becalm_testkit::write_program(&path, text.as_str().unwrap());
    }
    let here = json(&env.run(with("run", &["--json", "-r", "1", "-w", "0", "--", "true"])).stdout);
    env.write(name(file), of_here(&read(file), &here["machine"]["facts"]));
    let command: Vec<&str> =
        answer["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let at = command.join(" ");
    let output = env.run(&command);
    if answer["exit"].as_i64() != output.status.code().map(i64::from) {
        let before = &answer["exit"];
        return differences
            .add(format!("{at}: exit code {before} is now {}: {}", output.status, output.stderr));
    }
    let now = json(&output.stdout);
    let count = |record: &Value| -> usize {
        let subjects = record["subjects"].as_array().unwrap().iter();
        subjects.map(|one| one["runs"].as_array().unwrap().len()).sum()
    };
    let saved;
    let (before, runs) = if let Some(runs) = resumed.get("runs") {
        (resumed, runs.as_u64())
    } else {
        saved = json(&read(file));
        (&saved, u64::try_from(count(&saved)).ok())
    };
    if runs != u64::try_from(count(&now)).ok() {
        differences.add(format!("{at}: {runs:?} runs are now {}", count(&now)));
    }
    for key in ["comparisons", "estimates", "seed", "confidence", "margin"] {
        compare(&before[key], &now[key], &format!("{at}: {key}"), differences);
    }
}

/// Puts the facts that a session must have in common with this machine into a record or log.
fn of_here(text: &str, facts: &Value) -> String {
    let (head, runs) = match text.split_once('\n') {
        Some((head, runs)) if head.starts_with("{\"log\"") => (head, runs),
        _ => (text, ""),
    };
    let mut head = json(head);
    let is_log = head.get("log").is_some();
    let document = if is_log { &mut head["document"] } else { &mut head };
    let saved = document["machine"]["facts"].as_object_mut().unwrap();
    for key in OF_THIS_MACHINE {
        match facts.get(key) {
            Some(fact) => drop(saved.insert(key.to_owned(), fact.clone())),
            None => drop(saved.remove(key)),
        }
    }
    // A log is known by its first field.
    let head = if is_log {
        format!("{{\"log\": {}, \"document\": {}}}", head["log"], head["document"])
    } else {
        head.to_string()
    };
    format!("{head}\n{runs}")
}

/// Asks all that was asked about the files of a kind.
#[track_caller]
fn check(kind: &str, prepare: impl Fn(&TestEnv, &Path), is_asked: impl Fn(&str) -> bool) {
    let mut differences = Differences::default();
    for file in files(kind).into_iter().filter(|file| is_asked(name(file))) {
        let env = env();
        prepare(&env, &file);
        let mut here = Differences::default();
        for answer in answers(kind, name(&file)) {
            ask(&env, &file, &answer, &mut here);
        }
        differences
            .found
            .extend(here.found.into_iter().map(|one| format!("{}: {one}", name(&file))));
    }
    differences.are_none();
}

fn copy(env: &TestEnv, file: &Path) {
    env.write(name(file), std::fs::read(file).unwrap());
}

#[test]
fn records_of_run_and_of_other_tools_are_what_they_were() {
    check("records", copy, |name| !name.starts_with("compare"));
}

#[test]
fn records_of_compare_are_what_they_were() {
    check("records", copy, |name| name.starts_with("compare"));
}

#[test]
fn logs_of_killed_sessions_are_what_they_were() {
    check("logs", copy, |_| true);
}

#[test]
fn two_records_differ_as_they_did() {
    let env = env();
    for file in files("records") {
        copy(&env, &file);
    }
    let mut differences = Differences::default();
    for answer in answers("", "pairs.json") {
        ask(&env, &corpus(), &answer, &mut differences);
    }
    differences.are_none();
}

#[test]
fn histories_have_the_series_and_changes_that_they_had() {
    let next = corpus().join("histories/next.csv");
    check(
        "histories",
        |env, file| {
            copy(env, file);
            copy(env, &next);
        },
        |name| has_ending(name, "db"),
    );
}

#[test]
fn a_report_of_a_job_is_refused_as_a_record_and_read_as_a_report() {
    check("documents", copy, |_| true);
    for file in files("documents") {
        let report = becalm_model::wire::read_ci(&read(&file), becalm_series::judge::ci::conclude);
        assert!(report.is_ok(), "{}: {:?}", name(&file), report.err());
    }
}

#[test]
fn searches_go_on_to_the_same_commit() {
    if !has_git("searches_go_on_to_the_same_commit") {
        return;
    }
    check(
        "searches",
        |env, file| {
            git(env, &["init", "-q"]);
            let bundle = file.with_extension("bundle").display().to_string();
            let fetch = ["fetch", "-q", "--update-head-ok", &bundle];
            git(
                env,
                &[&fetch[..], &["refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"]].concat(),
            );
            git(env, &["reset", "-q", "--hard"]);
            copy(env, file);
        },
        |name| has_ending(name, "json"),
    );
}

/// Writes a captured machine into the folder `tree`.
fn machine(env: &TestEnv, file: &Path) {
    for (path, content) in json(&read(file)).as_object().unwrap() {
        env.write(Path::new("tree").join(path), content.as_str().unwrap());
    }
}

#[test]
fn journals_of_killed_owners_put_everything_back_and_effects_are_remembered() {
    check("machines", machine, |name| name != "cpu-noise.json");
}

#[test]
fn the_order_of_the_cpus_is_remembered() {
    let text = read(&corpus().join("machines/cpu-noise.json"));
    let saved = json(&text);
    let field = |name: &str| saved[name].as_str().unwrap();
    let tree = FakeTree::new()
        .file("/proc/sys/kernel/osrelease", format!("{}\n", field("kernel")))
        .file("/proc/sys/kernel/random/boot_id", format!("{}\n", field("boot_id")))
        .file("/proc/cpuinfo", format!("processor: 0\nmodel name: {}\n", field("cpu_model")))
        .file("/var/lib/becalm/cpu-noise.json", text.as_str());
    let ranking = NoiseRanking::read(&SysRoot::new(tree.path())).expect("it is of this machine");
    let cpus = saved["cpus"].as_array().unwrap();
    assert!(!cpus.is_empty());
    for cpu in cpus {
        let id = CpuId(u32::try_from(cpu["cpu"].as_u64().unwrap()).unwrap());
        let rank = ranking.rank(id).expect("it was probed");
        assert_eq!(u64::try_from(rank.tier).ok(), cpu["tier"].as_u64());
        let share = cpu["lost_share"].as_f64().unwrap();
        assert!((share * 1e6 - rank.lost_ppm as f64).abs() <= 0.5, "{rank:?} is {share}");
    }
}
