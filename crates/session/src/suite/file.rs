//! `becalm.toml`: where it is, what it says, and where it is wrong.

use std::ops::Range;
use std::path::{Path, PathBuf};

use becalm_model::wire::{SUITE_VERSION, SuiteDocument};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{FILE, SuiteError};
use crate::nearest::did_you_mean;

/// A suite file that was read.
#[derive(Debug)]
pub struct SuiteFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub document: SuiteDocument,
    text: String,
}

impl SuiteFile {
    /// Reads the file that was named, or else the one in this folder or the nearest one above it.
    pub fn read(given: Option<&Path>) -> Result<Self, SuiteError> {
        let path = match given {
            Some(path) => path.to_owned(),
            None => find()?,
        };
        let text = std::fs::read_to_string(&path)
            .map_err(|source| SuiteError::Read { path: path.clone(), source })?;
        Self::parse(path, text)
    }

    /// Reads the file in this folder or the nearest one above it; `None` if there is none.
    pub fn read_if_there() -> Result<Option<Self>, SuiteError> {
        match find() {
            Ok(path) => Self::read(Some(&path)).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Takes the text of a file.
    pub fn parse(path: PathBuf, text: String) -> Result<Self, SuiteError> {
        let document = toml::from_str(&text).map_err(|error| wrong(&path, &text, &error))?;
        let file = Self { path, document, text };
        if file.document.version != SUITE_VERSION {
            let version = file.document.version;
            return Err(file.error_at(
                &["version"],
                format!("unknown version {version}; this becalm reads version {SUITE_VERSION}"),
            ));
        }
        Ok(file)
    }

    /// Returns the folder that the file is in.
    pub fn folder(&self) -> PathBuf {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new(".")).to_owned()
    }

    /// Returns the names of the benchmarks in the order of the file, which its map does not keep.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.document.benchmark.keys().map(String::as_str).collect();
        names.sort_by_key(|name| self.place(&["benchmark", name]).map_or(0, |place| place.start));
        names
    }

    /// Returns the names of the parameters of a benchmark, or of the defaults, in the order of the file.
    pub fn in_order<'a>(&self, table: &[&str], mut keys: Vec<&'a str>) -> Vec<&'a str> {
        keys.sort_by_key(|key| {
            self.place(&[table, &[key]].concat()).map_or(0, |place| place.start)
        });
        keys
    }

    /// Says whether there is a value at these keys.
    pub fn has(&self, keys: &[&str]) -> bool {
        self.place(keys).is_some()
    }

    /// Makes an error about the value at these keys.
    pub fn error_at(&self, keys: &[&str], what: impl std::fmt::Display) -> SuiteError {
        SuiteError::At { path: self.path.clone(), line: self.line_of(keys), what: what.to_string() }
    }

    /// Returns the line of the value at these keys, or of the nearest existing table.
    pub(super) fn line_of(&self, keys: &[&str]) -> usize {
        let place = (0..=keys.len()).rev().find_map(|length| self.place(&keys[..length]));
        place.map_or(1, |place| line(&self.text, place.start))
    }

    /// Returns where the key is that these keys lead to.
    fn place(&self, keys: &[&str]) -> Option<Range<usize>> {
        let document = DeTable::parse(&self.text).ok()?;
        let mut table = document.get_ref();
        let (last, above) = keys.split_last()?;
        for key in above {
            let (_, value) = table.iter().find(|(name, _)| name.get_ref() == key)?;
            table = match value.get_ref() {
                DeValue::Table(table) => table,
                _ => return None,
            };
        }
        table.keys().find(|name| name.get_ref() == last).map(Spanned::span)
    }
}

fn find() -> Result<PathBuf, SuiteError> {
    let here = std::env::current_dir().map_err(SuiteError::Here)?;
    if here.join(FILE).is_file() {
        return Ok(PathBuf::from(FILE));
    }
    let found = here.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file());
    found.ok_or(SuiteError::NoFile(here))
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// Says where a text is not a valid suite, and what was meant, if that can be guessed.
fn wrong(path: &Path, text: &str, error: &toml::de::Error) -> SuiteError {
    let at = error.span().map_or(1, |span| line(text, span.start));
    let message = error.message().trim_end();
    let told = match unknown_key(message) {
        Some((key, known)) => {
            format!("unknown key `{key}`; {}", did_you_mean(key, &known))
        }
        None if message == "missing field `version`" => {
            format!("the file has to begin with `version = {SUITE_VERSION}`")
        }
        None if begins_with(text, error, "[[benchmark]]") => {
            "a benchmark is a table with its name: [benchmark.NAME]".to_owned()
        }
        None => message.replace('\n', ", "),
    };
    SuiteError::At { path: path.to_owned(), line: at, what: told }
}

/// Says whether these letters stand where the error is.
fn begins_with(text: &str, error: &toml::de::Error, letters: &str) -> bool {
    let rest = error.span().and_then(|span| text.get(span.start..));
    rest.is_some_and(|rest| rest.starts_with(letters))
}

/// Takes apart serde's message about an unknown key: the key, and the known ones.
pub(super) fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    let mut words = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let key = words.next()?;
    Some((key, words.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let told = match SuiteFile::parse("b.toml".into(), text.to_owned()) {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        check("version = 1\n[benchmark.a]\ncommand = 'x'\n", "fine");
        check(
            "version = 1\n[benchmark.a]\ncomand = 'x'\n",
            "b.toml:3: unknown key `comand`; did you mean `command`?",
        );
        check(
            "version = 1\n\n[benchmarks.a]\n",
            "b.toml:3: unknown key `benchmarks`; did you mean `benchmark`?",
        );
        check(
            "version = 1\n[benchmark.a]\ncommand = 'x'\nmetrics = [{ name = 'm',\n regx = 'x' }]\n",
            "b.toml:5: unknown key `regx`; did you mean `regex`?",
        );
        check(
            "version = 1\n[defaults]\nbudget = '5 parsecs'\n",
            "b.toml:3: `5 parsecs` is not a duration such as 250us, 500ms, 2s or 5m",
        );
        check(
            "version = 1\n[defaults]\nbudget = 5\n",
            "b.toml:3: invalid type: integer `5`, expected a duration in quotes, such as \"500ms\", \"2s\" or \"5m\"",
        );
        check(
            "version = 1\n[defaults]\nmargin = 2\n",
            "b.toml:3: 2 is not a share from 0 to less than 1",
        );
        check(
            "version = 1\n[defaults]\nmetrics = [3]\n",
            "b.toml:3: invalid type: integer `3`, expected the name of a metric, or a table such as \
             { name = \"rate\", regex = '(\\d+)/s' }",
        );
        check("version = 2\n", "b.toml:1: unknown version 2; this becalm reads version 1");
        check("[benchmark.a]\n", "b.toml:1: the file has to begin with `version = 1`");
        check(
            "version = 1\n[[benchmark]]\nname = 'a'\n",
            "b.toml:2: a benchmark is a table with its name: [benchmark.NAME]",
        );
        assert!(
            SuiteFile::parse("b.toml".into(), "x = [".into())
                .unwrap_err()
                .to_string()
                .contains("b.toml:1")
        );
    }

    #[test]
    fn benchmarks_stand_in_the_order_of_the_file() {
        let text = "version = 1\n[benchmark.z]\ncommand='x'\n[benchmark.a]\ncommand='x'\n";
        let file = SuiteFile::parse("b.toml".into(), text.to_owned()).unwrap();
        assert_eq!(file.names(), ["z", "a"]);
    }
}
