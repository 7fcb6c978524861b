//! What a record tells of a revision that was measured, among the parameters of its subject.

use crate::subject::Subject;

/// The commit that was built. Of the working tree it is a picture, which no branch has.
const REVISION: &str = "revision";

/// The commit that the working tree has changes of, where that was built.
const CHANGES_OF: &str = "changes_of";

/// The program as it was asked for, where a `*` in it stands for what each build names otherwise.
const PROGRAM: &str = "program";

/// A revision that was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredRevision {
    /// The commit that was built.
    pub built: String,
    /// The commit that it is, or that it has changes of.
    pub commit: String,
    /// Whether it has changes that no commit has.
    pub dirty: bool,
    /// The command as it was asked for, which is the same for all revisions.
    pub command: Vec<String>,
}

impl MeasuredRevision {
    /// Reads it; `None` where the subject is no revision.
    pub fn of(subject: &Subject) -> Option<Self> {
        let told = |wanted: &str| {
            let found = subject.parameters.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.clone())
        };
        let built = told(REVISION)?;
        let changes_of = told(CHANGES_OF);
        let mut command = subject.command.clone();
        if let (Some(first), Some(program)) = (command.first_mut(), told(PROGRAM)) {
            *first = program;
        }
        let dirty = changes_of.is_some();
        Some(Self { commit: changes_of.unwrap_or_else(|| built.clone()), built, dirty, command })
    }

    /// Returns the parameters of a subject that is the build of a commit, or of the changes of one; its program was
    /// asked for as `asked` and is called `found`.
    pub fn parameters(
        built: &str,
        changes_of: Option<&str>,
        asked: &str,
        found: &str,
    ) -> Vec<(String, String)> {
        let asked = Some(asked).filter(|asked| *asked != found);
        let all = [(REVISION, Some(built)), (CHANGES_OF, changes_of), (PROGRAM, asked)];
        let given =
            |(name, value): (&str, Option<&str>)| Some((name.to_owned(), value?.to_owned()));
        all.into_iter().filter_map(given).collect()
    }

    /// Says whether a parameter of a revision tells which one it is, and nothing that was asked for.
    pub fn is_told_by(parameter: &str) -> bool {
        [REVISION, CHANGES_OF, PROGRAM].contains(&parameter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_a_revision_is_read_again() {
        let read = |changes_of: Option<&str>, asked: &str| {
            MeasuredRevision::of(&Subject {
                name: "x".to_owned(),
                command: ["out/app-1f", "-v"].map(str::to_owned).to_vec(),
                parameters: MeasuredRevision::parameters("abc", changes_of, asked, "out/app-1f"),
            })
        };
        let of_commit = read(None, "out/app-1f").unwrap();
        assert_eq!((of_commit.commit.as_str(), of_commit.dirty), ("abc", false));
        assert_eq!(of_commit.command, ["out/app-1f", "-v"]);
        let of_tree = read(Some("head"), "out/app-*").unwrap();
        assert_eq!((of_tree.built.as_str(), of_tree.commit.as_str()), ("abc", "head"));
        assert_eq!((of_tree.dirty, &of_tree.command[0]), (true, &"out/app-*".to_owned()));
    }
}
