//! The journal of changes to the machine: one JSON object a line, written and synced before what it
//! speaks of is done. Whoever restores reads it, possibly another process after a crash.

use serde::{Deserialize, Serialize};

use super::JOURNAL_SCHEMA;
use super::version::{VersionError, check_readable};
use crate::knob::REGISTERS;
use crate::{Change, ProcessIdentity, Target};

/// What the lock of the machine says of who holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub process: ProcessIdentity,
    /// Its command, for people.
    pub command: String,
}

/// First line: who tunes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// `becalm/journal/1`.
    pub journal: String,
    /// `/proc/sys/kernel/random/boot_id` at the time.
    pub boot_id: String,
    /// Who tunes.
    pub owner: ProcessIdentity,
    /// Its command, for people.
    pub command: String,
    /// In which PID namespace its number, and those of its guardians, mean anything: what `/proc/self/ns/pid` leads to.
    /// Journals of 0.1 do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid_namespace: Option<String>,
}

/// Every further line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalLine {
    /// A guardian watches the owner from now on.
    Guardian(ProcessIdentity),
    /// These changes are about to be made.
    Plan(Vec<Change>),
    /// All changes so far are made; these are the values now, in the order of the plans, `None`
    /// where one cannot be read.
    Settled(Vec<Option<String>>),
    /// Everything is about to be put back, but for these targets, which somebody else has set.
    Restoring(Vec<Target>),
}

/// A whole journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Journal {
    /// First line.
    pub header: JournalHeader,
    /// The latest guardian.
    pub guardian: Option<ProcessIdentity>,
    /// All changes, in the order in which they were made.
    pub changes: Vec<Change>,
    /// Values after the changes: shorter than `changes` when the owner died while it made them.
    pub settled: Vec<Option<String>>,
    /// Once restoring has begun: the targets that somebody else had set. From then on a strange
    /// value of any other target is one that an interrupted restoring left.
    pub restoring: Option<Vec<Target>>,
}

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The first line is not a header.
    #[error("line 1 is not the header of a becalm journal: {0}")]
    Header(serde_json::Error),
    /// The header is of another version.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// A line names a path that becalm would never have written there.
    #[error("line {line} names the path `{path}`, which is not one of a becalm journal")]
    Path {
        /// Line number, from 1.
        line: usize,
        /// The path.
        path: String,
    },
    /// A line in the middle is damaged.
    #[error("line {line} is not an entry of a becalm journal: {source}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

#[derive(Deserialize)]
struct OnlyJournal {
    journal: String,
}

#[derive(Deserialize)]
struct OnlyBoot {
    boot_id: String,
}

/// Reads a journal. A cut-off last line is normal after a crash: what it spoke of was not done yet.
///
/// `None` if not even the first line is whole, so that nothing was done.
pub fn read_journal(text: &[u8]) -> Result<Option<Journal>, JournalError> {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').enumerate();
    let Some((_, first)) = lines.next().filter(|(_, first)| is_whole(first)) else {
        return Ok(None);
    };
    // The version is checked first: a newer journal may not have this shape at all.
    let OnlyJournal { journal } = serde_json::from_slice(first).map_err(JournalError::Header)?;
    check_readable(&journal, &[JOURNAL_SCHEMA])?;
    let header = serde_json::from_slice(first).map_err(JournalError::Header)?;
    let mut journal = Journal {
        header,
        guardian: None,
        changes: Vec::new(),
        settled: Vec::new(),
        restoring: None,
    };
    for (index, line) in lines {
        if !is_whole(line) {
            break;
        }
        match serde_json::from_slice(line) {
            Ok(JournalLine::Guardian(process)) => journal.guardian = Some(process),
            Ok(JournalLine::Plan(plan)) => {
                let first = journal.changes.len();
                journal.changes.extend(plan);
                let stray = journal.changes[first..].iter().find_map(|one| stray_path(&one.target));
                if let Some(path) = stray {
                    return Err(JournalError::Path { line: index + 1, path: path.to_owned() });
                }
            }
            Ok(JournalLine::Settled(values)) => journal.settled = values,
            Ok(JournalLine::Restoring(foreign)) => {
                journal.restoring = Some(foreign);
            }
            Err(source) => return Err(JournalError::Line { line: index + 1, source }),
        }
    }
    Ok(Some(journal))
}

/// Returns the boot of which a journal is, whatever its version and whatever became of its other lines.
/// Every version names it in this way: a boot resets what any of them tells of.
pub fn boot_of_journal(text: &[u8]) -> Option<String> {
    let first = text.split_inclusive(|byte| *byte == b'\n').next().filter(|line| is_whole(line))?;
    serde_json::from_slice(first).ok().map(|OnlyBoot { boot_id }| boot_id)
}

fn is_whole(line: &[u8]) -> bool {
    line.ends_with(b"\n")
}

/// Returns the path of a target if it is none that a knob could have named. Who restores does so as
/// root: a journal must not lead it out of where settings lie.
fn stray_path(target: &Target) -> Option<&str> {
    // Control groups may be mounted anywhere; their files and becalm's folders have names of their own.
    let is_of_kernel = |path: &str| path.starts_with("/sys/") || path.starts_with("/proc/");
    let has_name = |path: &str, starts: &[&str]| {
        let name = path.rsplit('/').next().unwrap_or_default();
        path.starts_with('/') && starts.iter().any(|start| name.starts_with(start))
    };
    let (path, is_of_a_knob) = match target {
        Target::File(path) => (path, is_of_kernel(path) || has_name(path, &["cpuset.", "cgroup."])),
        Target::Folder(path) => (path, is_of_kernel(path) || has_name(path, &["becalm"])),
        // Only its `cgroup.procs` is written.
        Target::Membership { hierarchy, .. } => (hierarchy, hierarchy.starts_with('/')),
        Target::UnitFile(path) => (path, path.starts_with("/run/systemd/")),
        // It may lie anywhere.
        Target::Swap(path) => (path, path.starts_with('/')),
        Target::Interface(name) | Target::Routes(name) => {
            return name.contains('/').then_some(name);
        }
        Target::Register { register, .. } => {
            return (!REGISTERS.contains(register)).then_some("/dev/cpu");
        }
        Target::Affinity { .. }
        | Target::Unit(_)
        | Target::IrqbalanceBan
        | Target::NewInterrupts(_) => return None,
    };
    let leads_out = !is_of_a_knob || path.split('/').any(|part| part == "..");
    leads_out.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nature;

    const HEADER: &str = r#"{"journal":"becalm/journal/1","boot_id":"b","owner":{"pid":7,"start_time":9},"command":"becalm tune"}"#;

    fn change() -> Change {
        Change::file("thp", "/sys/kernel/mm/transparent_hugepage/enabled", "always", "never", "why")
    }

    fn line(line: &JournalLine) -> String {
        serde_json::to_string(line).unwrap()
    }

    #[test]
    fn a_journal_reads_as_it_was_written() {
        let guardian = ProcessIdentity { pid: 8, start_time: 10 };
        let changes = [
            change(),
            Change { target: Target::Unit("cron.service".into()), new: None, ..change() },
            Change {
                target: Target::Membership {
                    task: ProcessIdentity { pid: 3, start_time: 4 },
                    hierarchy: "/c".into(),
                },
                ..change()
            }
            .with(Nature::MayBeRefused),
        ];
        let text = format!(
            "{HEADER}\n{}\n{}\n{}\n",
            line(&JournalLine::Guardian(guardian)),
            line(&JournalLine::Plan(changes.to_vec())),
            line(&JournalLine::Settled(vec![Some("never".into()), None, None])),
        );
        let journal = read_journal(text.as_bytes()).unwrap().unwrap();
        assert_eq!((journal.guardian, &journal.changes[..]), (Some(guardian), &changes[..]));
        assert_eq!(journal.settled, [Some("never".into()), None, None]);
    }

    #[test]
    fn a_line_that_was_cut_off_was_not_acted_upon() {
        let plan = line(&JournalLine::Plan(vec![change()]));
        let journal = read_journal(format!("{HEADER}\n{plan}").as_bytes()).unwrap().unwrap();
        assert_eq!(journal.changes, []);
        assert_eq!(read_journal(HEADER.as_bytes()).unwrap(), None);
        assert_eq!(read_journal(b"").unwrap(), None);
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_refused() {
        let check = |target: Target, is_ours: bool| {
            let plan = JournalLine::Plan(vec![Change { target, ..change() }]);
            let read = read_journal(format!("{HEADER}\n{}\n", line(&plan)).as_bytes());
            assert_eq!(read.is_ok(), is_ours, "{read:?}");
        };
        check(Target::File("/sys/kernel/mm/ksm/run".into()), true);
        check(Target::File("/sys/../etc/shadow".into()), false);
        check(Target::File("sys/a".into()), false);
        check(Target::File("/etc/shadow".into()), false);
        check(Target::File("/proc/sys/vm/swappiness".into()), true);
        check(Target::File("/dev/cpuset/becalm/cpuset.cpus".into()), true);
        check(Target::File("/cgroup/a/cpuset.d/authorized_keys".into()), false);
        check(Target::Folder("/dev/cpuset/becalm-others".into()), true);
        check(Target::Folder("/etc/cron.d".into()), false);
        check(Target::Folder("/sys/fs/cgroup/..".into()), false);
        check(Target::Folder("/sys/fs/cgroup/a..b".into()), true);
        check(Target::UnitFile("/run/systemd/system/becalm.slice".into()), true);
        check(Target::Register { cpu: 1, register: 0x1a4 }, true);
        check(Target::Register { cpu: 1, register: 0x1b }, false);
        check(Target::Swap("/dev/vda2".into()), true);
        check(Target::Swap("/a/../swap".into()), false);
        check(Target::Interface("eth0".into()), true);
        check(Target::Interface("../eth0".into()), false);
        check(Target::UnitFile("/etc/systemd/system/a.service".into()), false);
    }

    #[test]
    fn damage_and_newer_versions_are_refused() {
        let told = |text: &[u8]| read_journal(text).unwrap_err().to_string();
        let rubbish = told(format!("{HEADER}\nrubbish\n").as_bytes());
        assert!(rubbish.starts_with("line 2 is not an entry"), "{rubbish}");
        // A value of which a disk has lost a bit is not written to the machine.
        let plan = line(&JournalLine::Plan(vec![change()]));
        let mut spoiled = format!("{HEADER}\n{plan}\n").into_bytes();
        let value = spoiled.windows(6).position(|bytes| bytes == b"always").unwrap();
        spoiled[value] |= 0x80;
        let spoiled = told(&spoiled);
        assert!(spoiled.starts_with("line 2 is not an entry"), "{spoiled}");
        let newer = told(b"{\"journal\":\"becalm/journal/9\"}\n");
        assert!(newer.contains("version 9"), "{newer}");
        assert!(matches!(read_journal(b"rubbish\n"), Err(JournalError::Header(_))));
    }

    #[test]
    fn the_boot_is_known_of_a_journal_that_cannot_be_used() {
        let check = |text: &[u8], expected: Option<&str>| {
            assert_eq!(boot_of_journal(text).as_deref(), expected);
        };
        check(format!("{HEADER}\n\u{fffd}rubbish").as_bytes(), Some("b"));
        check(
            b"{\"journal\":\"becalm/journal/9\",\"boot_id\":\"c\",\"more\":1}\n\xff\n",
            Some("c"),
        );
        check(HEADER.as_bytes(), None);
        check(b"rubbish\n", None);
        check(b"", None);
    }
}
