//! Subjects of commits fit into the lists that people read: a warning, because what is published cannot be
//! changed.

use std::process::Command;

use crate::workspace::{capture, root};

/// The last commit that was made before the rule.
const BEFORE: &str = "982ed2e";

/// The longest subject, in letters.
const LONGEST: usize = 72;

/// Warns of subjects that are too long, among the commits since the rule. Returns why that could not be
/// done.
pub(super) fn check() -> Vec<String> {
    let mut git = Command::new("git");
    let range = format!("{BEFORE}..HEAD");
    git.args(["log", "--no-merges", "--format=%h %s", &range]).current_dir(root());
    let Ok(log) = capture(&mut git) else {
        return vec![format!("commits: this is no clone with the commits since {BEFORE}")];
    };
    for commit in too_long(&log) {
        println!("warning: more than {LONGEST} letters: {commit}");
    }
    Vec::new()
}

/// The lines `HASH SUBJECT` whose subject is too long.
fn too_long(log: &str) -> impl Iterator<Item = &str> {
    log.lines().filter(|line| {
        line.split_once(' ').is_some_and(|(_, subject)| subject.chars().count() > LONGEST)
    })
}

#[test]
fn letters_of_the_subject_are_counted() {
    let log = format!("1234567 {}\n89abcde {}\n", "ä".repeat(72), "b".repeat(73));
    let found: Vec<_> = too_long(&log).collect();
    assert_eq!(found, [format!("89abcde {}", "b".repeat(73))]);
}
