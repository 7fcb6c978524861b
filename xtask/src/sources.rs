//! The sources are searched for what the compiler does not know of: the invariants of `ARCHITECTURE.md`.
//!
//! What becalm knows of a machine comes through `SysRoot`: a file that names a path of the kernel may not
//! open files by itself, and one that opens files by itself may not name a path of the kernel. In `machine`
//! only the files below open any. Exceptions stand here with their reason.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::root;

/// Files that do both.
const BOTH: [(&str, &str); 5] = [
    ("fleet/src/program.rs", "the program of becalm's own process, which it copies"),
    ("runner/src/launch.rs", "a file about becalm's own process, part of handling a process"),
    ("kernel/src/sched.rs", "a file about a thread, likewise"),
    (
        "machine/src/tune/journal/mod.rs",
        "writes becalm's journal, and reads the boot's id through SysRoot",
    ),
    ("lab/src/workloads/mixed.rs", "a workload that reads some file, whatever it holds"),
];

/// Files of `machine` that open files by themselves.
const DIRECT: [(&str, &str); 7] = [
    ("machine/src/service/client.rs", "the service's socket, at the place that SysRoot tells"),
    ("machine/src/service/serve.rs", "likewise"),
    ("machine/src/sysroot.rs", "SysRoot itself"),
    ("machine/src/tune/journal/mod.rs", "becalm's own file"),
    ("machine/src/tune/journal/place.rs", "where that file lies"),
    ("machine/src/tune/lock.rs", "becalm's own file"),
    ("machine/src/tune/target/irqbalance.rs", "a socket, at the place that SysRoot tells"),
];

/// How files are opened and looked at without `SysRoot`.
const OPENING: [&str; 8] = [
    "fs::read",
    "fs::write",
    "fs::metadata",
    "fs::symlink_metadata",
    "File::open",
    "File::create",
    "OpenOptions",
    "UnixStream::connect",
];

/// How paths of the kernel start.
const KERNEL: [&str; 3] = ["\"/proc", "\"/sys", "\"/dev/cpu"];

#[test]
fn what_is_known_of_a_machine_comes_through_sysroot() {
    let mut wrong = Vec::new();
    for (name, code) in files() {
        let has =
            |words: &[&str]| code.iter().any(|line| words.iter().any(|word| line.contains(word)));
        let (opens, names_kernel) = (has(&OPENING), has(&KERNEL));
        let is_among = |list: &[(&str, &str)]| list.iter().any(|(known, _)| *known == name);
        if opens && names_kernel && !is_among(&BOTH) {
            wrong.push(format!("{name} opens files by itself and names a path of the kernel"));
        }
        if opens && name.starts_with("machine/") && !is_among(&DIRECT) {
            wrong.push(format!("{name} opens files by itself"));
        }
        if !opens && (is_among(&BOTH) || is_among(&DIRECT)) {
            wrong.push(format!("{name} no longer needs its exception"));
        }
    }
    assert!(wrong.is_empty(), "not through SysRoot:\n  {}", wrong.join("\n  "));
}

/// Files of all crates with a line of code that has this word.
fn files_with(word: &str) -> Vec<String> {
    let has = |code: &[String]| {
        let mut parts =
            code.iter().flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric()));
        parts.any(|part| part == word)
    };
    files().into_iter().filter(|(_, code)| has(code)).map(|(name, _)| name).collect()
}

#[test]
fn only_values_of_the_model_can_be_written() {
    let mut strays: Vec<String> = files_with("Serialize")
        .into_iter()
        // Files of other tools have shapes of their own.
        .filter(|name| !name.starts_with("formats/src/writers/"))
        // Development only: rows of a benchmark's table.
        .filter(|name| !name.starts_with("calibrate/"))
        .filter(|name| !name.starts_with("model/src/"))
        .collect();
    strays.sort();
    // What becalm and its steward say to each other is no document: both are the same program.
    strays.retain(|name| !SAID_TO_THE_STEWARD.contains(&name.as_str()));
    // The same holds for the two ends of a connection.
    strays.retain(|name| !SAID_TO_THE_OTHER_END.contains(&name.as_str()));
    // What is kept of a fleet is read by the same version alone.
    strays.retain(|name| !KEPT_OF_A_FLEET.contains(&name.as_str()));
    // They write any line and any document of the model's.
    assert_eq!(strays, ["cli/src/ui.rs", "web/src/server/lookup.rs"]);
}

/// Files with values that one end of a connection sends to the other.
const SAID_TO_THE_OTHER_END: [&str; 3] =
    ["fleet/src/frame.rs", "fleet/src/job.rs", "fleet/src/parcel.rs"];

/// Files with values that are kept of a fleet on disk.
const KEPT_OF_A_FLEET: [&str; 3] =
    ["fleet/src/blocks/canary.rs", "fleet/src/blocks/folder.rs", "fleet/src/blocks/state.rs"];

/// Files with values that go to the steward and come back from it.
const SAID_TO_THE_STEWARD: [&str; 21] = [
    "machine/src/energy.rs",
    "machine/src/isolate/mod.rs",
    "machine/src/knobs/planner.rs",
    "machine/src/knobs/request.rs",
    "machine/src/service/answer.rs",
    "machine/src/service/call.rs",
    "machine/src/service/policy.rs",
    "machine/src/steward/guest.rs",
    "machine/src/steward/lines.rs",
    "machine/src/steward/mod.rs",
    "machine/src/steward/request.rs",
    "machine/src/steward/serve.rs",
    "machine/src/sysroot.rs",
    "machine/src/tracefs.rs",
    "machine/src/tune/apply.rs",
    "machine/src/tune/journal/mod.rs",
    "machine/src/tune/lock.rs",
    "machine/src/tune/plan.rs",
    "machine/src/tune/recover.rs",
    "machine/src/tune/restore.rs",
    "machine/src/tune/session.rs",
];

/// What a request to the steward may name in words, by the file and the field, and what becomes of it there.
const WORDS_TO_THE_STEWARD: [(&str, &str, &str); 7] = [
    ("machine/src/steward/request.rs", "command", "written into lock and journal, for people"),
    ("machine/src/service/call.rs", "command", "written into lock and journal, for people"),
    ("machine/src/steward/request.rs", "without", "compared with names of knobs"),
    ("machine/src/knobs/request.rs", "only", "compared with names of knobs"),
    ("machine/src/knobs/request.rs", "skip", "compared with names of knobs"),
    ("machine/src/knobs/request.rs", "also", "compared with names of knobs"),
    ("machine/src/knobs/request.rs", "units", "given to systemctl behind `--`"),
];

#[test]
fn the_steward_is_asked_for_nothing_by_a_path() {
    let mut wrong = Vec::new();
    let mut found = Vec::new();
    for (name, code) in files() {
        if !WORDS_TO_THE_STEWARD.iter().any(|(file, ..)| *file == name) {
            continue;
        }
        for line in code {
            let field = line.trim_start_matches("pub").trim_start_matches("(super)").trim();
            if ["Path", "OsString", "OsStr", "File", "Fd"].iter().any(|word| line.contains(word)) {
                wrong.push(format!("{name}: {line}"));
            }
            let is_field = line.ends_with(',') && !line.contains(['(', '|']);
            if is_field && line.contains("String") {
                let field = field.split(':').next().unwrap_or_default();
                found.push((name.clone(), field.to_owned()));
            }
        }
    }
    assert!(wrong.is_empty(), "requests with paths:\n  {}", wrong.join("\n  "));
    let mut known: Vec<(String, String)> =
        WORDS_TO_THE_STEWARD.map(|(file, field, _)| (file.to_owned(), field.to_owned())).to_vec();
    known.sort();
    found.sort();
    assert_eq!(found, known, "each text in a request needs its line, with what becomes of it");
}

#[test]
fn there_are_few_traits() {
    let mut traits: Vec<String> = Vec::new();
    for (_, code) in files() {
        let words = code.iter().filter_map(|line| {
            let rest = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            let name = rest.strip_prefix("trait ")?;
            name.split(|c: char| !c.is_ascii_alphanumeric()).next()
        });
        traits.extend(words.map(str::to_owned));
    }
    traits.sort();
    assert_eq!(
        traits,
        ["Client", "Database", "Duplex", "Executor", "Isolate"],
        "a further one needs its reason in ARCHITECTURE.md"
    );
}

/// Files that read sentences.
const READING_SENTENCES: [(&str, &str); 1] =
    [("model/src/wire/earlier.rs", "records of earlier versions have sentences alone")];

/// What values are called that have a sentence.
const SENTENCES: [&str; 12] = [
    "note",
    "notes",
    "limit",
    "limits",
    "reason",
    "reasons",
    "condition",
    "sentence",
    "sentences",
    "interrupted",
    "why",
    "told",
];

/// How a text is looked into, or a place in a list.
const LOOKING: [&str; 12] = [
    ".starts_with(",
    ".ends_with(",
    ".contains(",
    ".strip_prefix(",
    ".strip_suffix(",
    ".split_once(",
    ".rsplit_once(",
    ".first()",
    ".last()",
    ".split_first()",
    ".split_last()",
    "[",
];

#[test]
fn sentences_are_for_people() {
    let mut wrong = Vec::new();
    for (name, code) in files() {
        let is_exempt = name.starts_with("report/")
            || name.starts_with("calibrate/")
            || READING_SENTENCES.iter().any(|(known, _)| *known == name);
        // A chain of calls is one line.
        let code = code.join("\n").replace("\n.", ".");
        let strays = code.lines().filter(|line| !is_exempt && looks_into_a_sentence(line));
        wrong.extend(strays.map(|line| format!("{name}: {line}")));
    }
    assert!(wrong.is_empty(), "match on a kind, not on words:\n  {}", wrong.join("\n  "));
}

/// Says whether a line asks how the value of such a name begins, ends or reads, or takes it by its place. Whether a
/// whole value is in a list may be asked.
fn looks_into_a_sentence(line: &str) -> bool {
    LOOKING.iter().any(|looking| {
        line.match_indices(looking).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + looking.len()..]);
            let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
            let is_place = *looking != "[" || after.starts_with(|c: char| c.is_ascii_digit());
            let is_whole =
                *looking == ".contains(" && after.starts_with('&') && !after.starts_with("&format");
            name.is_some_and(|name| SENTENCES.contains(&name)) && is_place && !is_whole
        })
    })
}

/// Files of `model` with such a text that is not a note of becalm's.
const TEXTS: [(&str, &str); 7] = [
    ("model/src/history/change.rs", "what somebody wrote who dismissed a change"),
    ("model/src/wire/changes.rs", "likewise"),
    ("model/src/knob.rs", "what a change of a setting is for"),
    ("model/src/wire/tune.rs", "likewise"),
    ("model/src/wire/boot.rs", "what a boot parameter is for"),
    ("model/src/wire/bisect.rs", "an error with what a build printed"),
    (
        "model/src/wire/reproduce.rs",
        "what an article's configuration is without here, by the machine's errors",
    ),
];

#[test]
fn what_a_reader_has_to_know_is_no_text() {
    let is_text = |line: &String| {
        let field = line.trim_start_matches("pub ").trim_end_matches(',').split_once(": ");
        field.is_some_and(|(name, kind)| {
            ["note", "notes", "limit", "limits", "reason", "reasons"].contains(&name)
                && ["String", "Vec<String>", "Option<String>"].contains(&kind)
        })
    };
    let of_model = files().into_iter().filter(|(name, _)| name.starts_with("model/"));
    let mut texts: Vec<String> =
        of_model.filter(|(_, code)| code.iter().any(is_text)).map(|(name, _)| name).collect();
    let mut known = TEXTS.map(|(name, _)| name);
    texts.sort();
    known.sort_unstable();
    assert_eq!(texts, known, "a note is a value; its sentence is made in `report`");
}

/// A published schema requires every field without a default, also one that is left out where it is empty.
#[test]
fn what_may_be_left_out_of_a_document_is_not_required_by_its_schema() {
    let mut wrong = Vec::new();
    for (name, lines) in files().into_iter().filter(|(name, _)| name.starts_with("model/")) {
        let (mut attributes, mut is_described, mut has_defaults) = (String::new(), false, false);
        for line in &lines {
            let line = line.trim();
            if line.starts_with("#[") {
                attributes.push_str(line);
            } else if line.contains("struct ") || line.contains("enum ") {
                is_described = attributes.contains("JsonSchema");
                has_defaults = attributes.contains("#[serde(default)]");
                attributes.clear();
            } else {
                let is_optional = attributes.contains("skip_serializing_if")
                    && !attributes.contains("Option::is_none");
                if is_described && is_optional && !has_defaults && !attributes.contains("default") {
                    wrong.push(format!(
                        "{name}: {line} is left out where it is empty: add `default`"
                    ));
                }
                attributes.clear();
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_look_into_a_sentence_is_found() {
    for line in [
        "if note.starts_with(NOTE) {",
        "comparison.notes.first()",
        "record.notes[0].clone()",
        "limit.split_once(\": \")",
        "reason.contains(\"twice\")",
    ] {
        assert!(looks_into_a_sentence(line), "{line}");
    }
    for line in
        ["record.notes.contains(&note)", "notes.push(note)", "line.starts_with(NOTE)", "noted[0]"]
    {
        assert!(!looks_into_a_sentence(line), "{line}");
    }
}

/// The files of all crates by name, with their lines of code.
fn files() -> Vec<(String, Vec<String>)> {
    let folder = root().join("crates");
    let read = |file: PathBuf| {
        let name = file.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let lines = code(&text).filter(|line| !line.starts_with("use ")).map(str::to_owned);
        (name, lines.collect())
    };
    sources(&folder).into_iter().map(read).collect()
}

/// The source files of all crates without their tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            match name {
                "tests" | "tests.rs" | "testkit" => Vec::new(),
                _ if path.is_dir() => sources(&path),
                _ if path.extension().is_some_and(|ending| ending == "rs") => vec![path],
                _ => Vec::new(),
            }
        })
        .collect()
}

/// The lines of a file that do something, up to the tests at its end. Tests in a file of their own end
/// nothing.
fn code(text: &str) -> impl Iterator<Item = &str> {
    const TESTS: &str = "#[cfg(test)]";
    let mut next = text.lines().skip(1).map(str::trim);
    let lines = text.lines().map(str::trim).take_while(move |line| {
        let is_elsewhere = next.next().is_some_and(|next| next.ends_with(';'));
        *line != TESTS || is_elsewhere
    });
    lines.filter(|line| !line.starts_with("//") && *line != TESTS)
}

#[test]
fn comments_and_tests_are_not_searched() {
    let text = "//! \"/proc\"\nlet a = 1;\n  // fs::read\n#[cfg(test)]\nmod tests { fs::read(\"/sys\") }\n";
    assert_eq!(code(text).collect::<Vec<_>>(), ["let a = 1;"]);
    let text = "#[cfg(test)]\nmod tests;\nlet a = 1;\n";
    assert_eq!(code(text).collect::<Vec<_>>(), ["mod tests;", "let a = 1;"]);
}
