//! Loads as texts, with their files: a rate, `rate=2000,duration=5s`, or the name of one in `becalm.toml`.

use std::path::{Path, PathBuf};

use becalm_model::load::{Rates, Scenario};
use becalm_model::wire::{LoadFiles, SuiteLoad, SuiteLoadError, SuiteValue};

use super::file::unknown_key;
use super::{SuiteError, SuiteFile};
use crate::nearest::did_you_mean;
use crate::servers::{
    ContentsError, place_body, read_bodies, read_requests, read_times, read_values,
};

/// Why a text is not a load.
#[derive(Debug, thiserror::Error)]
pub enum LoadTextError {
    /// One of its settings is not what it should be.
    #[error("--load {text}: {what}")]
    Setting {
        /// The text.
        text: String,
        /// What is wrong.
        what: String,
    },
    /// Together they are no load.
    #[error("--load {text}: {source}")]
    Load {
        /// The text.
        text: String,
        /// What is wrong.
        source: SuiteLoadError,
    },
    /// One of its files is of no use.
    #[error("--load {text}: {source}")]
    Contents {
        /// The text.
        text: String,
        /// What is wrong.
        source: ContentsError,
    },
    /// There is no load of this name.
    #[error("there is no load `{name}` in {file}; {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The file.
        file: String,
        /// What may have been meant.
        known: String,
    },
    /// There is no file with loads.
    #[error(
        "`{0}` is neither a rate nor a setting, and no becalm.toml here or above has a load of this name"
    )]
    NoFile(String),
    /// The file cannot be read.
    #[error(transparent)]
    Suite(#[from] SuiteError),
}

/// A load that was read, with what is in its files.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadLoad {
    /// The load.
    pub scenario: Scenario,
    /// Where the requests go, if it says so.
    pub url: Option<String>,
    /// What shows that a server is ready, if it says so.
    pub ready: Option<String>,
    /// The files that it was read from: becalm.toml, if it is named there, and those that it names.
    pub files: Vec<PathBuf>,
}

/// Returns the load that a text means, with the file of this folder or above, if the text is a name.
pub fn load_of_this_folder(text: &str) -> Result<ReadLoad, LoadTextError> {
    let is_name = !text.contains('=') && text.parse::<Rates>().is_err();
    let file = if is_name { SuiteFile::read_if_there()? } else { None };
    load_of_text(text, file.as_ref())
}

/// Returns the load that a text means: a rate, settings, or the name of a load in the file.
pub fn load_of_text(text: &str, file: Option<&SuiteFile>) -> Result<ReadLoad, LoadTextError> {
    let text = text.trim();
    // A file that becalm.toml names is beside it.
    let mut folder = PathBuf::from(".");
    let mut files = Vec::new();
    let load = if text.contains('=') {
        of_settings(text)?
    } else if text.parse::<Rates>().is_ok() {
        SuiteLoad { rate: Some(SuiteValue(text.to_owned())), ..SuiteLoad::default() }
    } else {
        let Some(file) = file else { return Err(LoadTextError::NoFile(text.to_owned())) };
        let loads = &file.document.load;
        let unknown = || {
            let names: Vec<&str> = loads.keys().map(String::as_str).collect();
            let known = if names.is_empty() {
                format!("add [load.{text}] with a rate")
            } else {
                did_you_mean(text, &names)
            };
            let file = file.path.display().to_string();
            LoadTextError::Unknown { name: text.to_owned(), file, known }
        };
        folder = file.folder();
        files.push(file.path.clone());
        loads.get(text).cloned().ok_or_else(unknown)?
    };
    read(load, &folder, text, files)
}

/// Reads the files of a load, which are in this folder.
fn read(
    mut load: SuiteLoad,
    folder: &Path,
    text: &str,
    mut files: Vec<PathBuf>,
) -> Result<ReadLoad, LoadTextError> {
    let unread = |source| LoadTextError::Contents { text: text.to_owned(), source };
    let place = |file: &String| {
        if folder == Path::new(".") { file.into() } else { folder.join(file) }
    };
    for secret in [&mut load.user, &mut load.bearer].into_iter().flatten() {
        if !secret.starts_with("env:") {
            *secret = place(secret).display().to_string();
            files.push(PathBuf::from(&*secret));
        }
    }
    files
        .extend([&load.requests_file, &load.values, &load.replay].into_iter().flatten().map(place));
    let requests = load.requests_file.as_ref().map(|file| read_requests(&place(file)));
    let requests = requests.transpose().map_err(unread)?;
    let values = load.values.as_ref().map(|file| read_values(&place(file)));
    let values = values.transpose().map_err(unread)?.map(|(_, kept)| kept);
    let replay = load.replay.as_ref().map(|file| read_times(&place(file)));
    let replay = replay.transpose().map_err(unread)?.map(|(_, kept)| kept);
    if let Some(file) = &mut load.cacert {
        *file = place(file).display().to_string();
        files.push(PathBuf::from(&*file));
    }
    let own = load.requests.iter_mut().flatten();
    let own_bodies = own.map(|one| &mut one.body_file).chain([&mut load.body_file]);
    own_bodies.for_each(|file| place_body(file, folder));
    let of_requests = requests.as_ref().or(load.requests.as_ref()).into_iter().flatten();
    let named = of_requests.map(|one| &one.body_file).chain([&load.body_file]);
    let bodies = read_bodies(named.flatten()).map_err(unread)?;
    files.extend(bodies.keys().map(PathBuf::from));
    let scenario = load
        .scenario(LoadFiles { requests: requests.as_deref(), values, replay, bodies })
        .map_err(|source| LoadTextError::Load { text: text.to_owned(), source })?;
    Ok(ReadLoad { scenario, url: load.url, ready: load.ready, files })
}

/// Reads `rate=2000,duration=5s`. A part without a `=` belongs to the value before it, as in `rate=500,1000`.
fn of_settings(text: &str) -> Result<SuiteLoad, LoadTextError> {
    let mut settings: Vec<(&str, String)> = Vec::new();
    for part in text.split(',') {
        match (part.split_once('='), settings.last_mut()) {
            (Some((key, value)), _) if is_key(key.trim()) => {
                settings.push((key.trim(), value.trim().to_owned()));
            }
            (_, Some((_, value))) => {
                value.push(',');
                value.push_str(part);
            }
            (_, None) => {
                let what = format!("`{part}` has to be of the form rate=2000");
                return Err(LoadTextError::Setting { text: text.to_owned(), what });
            }
        }
    }
    // As the same table of a file, so that both have the same settings and say the same about wrong ones.
    let lines = settings.iter().map(|(key, value)| format!("{key} = {}\n", as_toml(value)));
    toml::from_str(&lines.collect::<String>()).map_err(|error| {
        let message = error.message().trim_end();
        let what = match unknown_key(message) {
            Some((key, known)) => format!("unknown setting `{key}`; {}", did_you_mean(key, &known)),
            None => message.replace('\n', ", "),
        };
        LoadTextError::Setting { text: text.to_owned(), what }
    })
}

fn is_key(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Writes a value as TOML has it: numbers, switches and lists as they are, and everything else in quotes.
fn as_toml(value: &str) -> String {
    let is_plain = value.parse::<f64>().is_ok_and(f64::is_finite)
        || matches!(value, "true" | "false")
        || value.starts_with(['[', '"', '\'']);
    if is_plain {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use becalm_model::load::{Arrivals, Authentication};

    use super::*;

    fn of(text: &str) -> Result<ReadLoad, String> {
        load_of_text(text, None).map_err(|error| error.to_string())
    }

    #[test]
    fn a_load_is_written_in_one_word_or_in_several() {
        let scenario = |text: &str| of(text).unwrap().scenario;
        assert!((scenario("2000").requests() - 10_000.0).abs() < 1e-6);
        let one = scenario("rate=500,1000,duration=4s,arrivals=even,body={\"n\": 1},timeout=1s");
        assert_eq!(one.stages.len(), 2);
        assert!((one.duration() - 4.0).abs() < 1e-9 && (one.time_limit - 1.0).abs() < 1e-9);
        assert_eq!((one.arrivals, one.body.as_deref()), (Arrivals::Even, Some("{\"n\": 1}")));
        let two =
            scenario("rate=5,expect-status=[200,404],headers.X-Name=a=b,connections=7,http2=true");
        assert_eq!(
            (&two.expected_status[..], two.connections, two.http2),
            (&[200, 404][..], 7, true)
        );
        assert_eq!(two.headers, [("X-Name".to_owned(), "a=b".to_owned())]);
        assert_eq!(scenario("rate=5,expect-status=201").expected_status, [201]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text: &str| of(text).unwrap_err();
        assert!(wrong("rat=5").contains("did you mean `rate`?"), "{}", wrong("rat=5"));
        assert!(wrong("duration=5s").contains("no rate"));
        assert!(wrong("rate=5,duration=5").contains("duration"));
        assert!(wrong("rate=5,duration=0s").contains("above zero"));
        assert!(wrong("rate=fast").contains("`fast` is not a rate"));
        assert!(wrong("checkout").contains("becalm.toml"));
    }

    #[test]
    fn files_of_a_load_are_beside_the_file_that_names_them() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("mix.jsonl", "{\"path\": \"/{id}\"}\n{\"path\": \"/b\", \"weight\": 2}\n");
        write("ids.csv", "id\n1\n2\n");
        let text = "version = 1\n[load.shop]\nrate = 1\nrequests-file = 'mix.jsonl'\nvalues = 'ids.csv'\n\
                    user = 'secret'\n[load.two]\nrate = 1\n[[load.two.requests]]\npath = '/a'\n";
        let file = SuiteFile::parse(folder.path().join("b.toml"), text.to_owned()).unwrap();
        let shop = load_of_text("shop", Some(&file)).unwrap().scenario;
        assert_eq!((shop.requests.len(), shop.values.as_ref().unwrap().rows), (2, 2));
        assert!(std::path::Path::new(&shop.values.unwrap().file).exists());
        let secret = folder.path().join("secret").display().to_string();
        assert_eq!(shop.authentication, Some(Authentication::Basic(secret)));
        let two = load_of_text("two", Some(&file)).unwrap().scenario;
        assert_eq!(two.requests[0].name, "GET /a");
        write("hello", "\n\u{5}world");
        let text = "version = 1\n[load.hello]\nrate = 1\ngrpc = true\nbody-file = 'hello'\n\
                    [[load.hello.requests]]\npath = '/a.B/C'\n[[load.hello.requests]]\npath = '/a.B/D'\nbody-file = 'hello'\n";
        let of_calls = SuiteFile::parse(folder.path().join("c.toml"), text.to_owned()).unwrap();
        let hello = load_of_text("hello", Some(&of_calls)).unwrap().scenario;
        let message = hello.body_file.clone().unwrap();
        assert_eq!((message.bytes, hello.grpc), (7, true));
        assert!(hello.kinds().iter().all(|kind| kind.body_file.as_ref() == Some(&message)));
        write("ids.csv", "id\n");
        let error = load_of_text("shop", Some(&file)).unwrap_err().to_string();
        assert!(error.contains("ids.csv: there is no row"), "{error}");
    }

    #[test]
    fn a_name_is_that_of_a_load_in_the_file() {
        let text = "version = 1\n[load.checkout]\nrate = 300\nduration = '2s'\nurl = 'http://127.0.0.1:{port}/'\n";
        let file = SuiteFile::parse("b.toml".into(), text.to_owned()).unwrap();
        let load = load_of_text("checkout", Some(&file)).unwrap();
        assert_eq!(load.url.as_deref(), Some("http://127.0.0.1:{port}/"));
        assert!((load.scenario.requests() - 600.0).abs() < 1e-6);
        let error = load_of_text("chekout", Some(&file)).unwrap_err().to_string();
        assert!(error.contains("did you mean `checkout`?"), "{error}");
        let none = SuiteFile::parse("b.toml".into(), "version = 1\n".to_owned()).unwrap();
        let error = load_of_text("checkout", Some(&none)).unwrap_err().to_string();
        assert!(error.contains("[load.checkout]"), "{error}");
    }
}
