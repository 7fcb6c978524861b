//! The files of a load: its requests, what fills them in, and its secret.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use becalm_load::{
    Bodies, Contents, TimesError, Values, ValuesError, basic_authorization, bearer_authorization,
    times_of_text,
};
use becalm_model::digest;
use becalm_model::load::{Authentication, LoadBody, LoadReplay, LoadRequest, LoadValues, Scenario};
use becalm_model::wire::{LoadBodies, MixOf, SuiteLoadError, SuiteRequest};
use serde::Deserialize;

use crate::files::{self, FileError};

/// Why a file of a load is of no use.
#[derive(Debug, thiserror::Error)]
pub enum ContentsError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It has no requests in it, or wrong ones.
    #[error("{}: {what}", path.display())]
    Requests {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Its requests are no mix.
    #[error("{}: {source}", path.display())]
    Mix {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        source: SuiteLoadError,
    },
    /// It is no table of values.
    #[error("{}: {source}", path.display())]
    Values {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ValuesError,
    },
    /// It has no due times in it.
    #[error("{}: {source}", path.display())]
    Times {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: TimesError,
    },
    /// It is not what it was when the session began.
    #[error("{0} has changed since the session began")]
    Changed(String),
    /// A variable of the environment is not set.
    #[error("there is no variable `{0}` in the environment")]
    NoVariable(String),
    /// A name and a password have no colon between them.
    #[error("{0} must contain NAME:PASSWORD, with a colon")]
    NoColon(String),
    /// There is nothing in it.
    #[error("{0} is empty")]
    NoSecret(String),
}

/// Reads kinds of requests: JSON with one on each line, or TOML with `[[request]]`. The files that they name are beside it.
pub(crate) fn read_requests(path: &Path) -> Result<Vec<SuiteRequest>, ContentsError> {
    /// The document in TOML.
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Document {
        #[serde(default)]
        request: Vec<SuiteRequest>,
    }
    let text = files::read_text(path)?;
    let wrong = |what: String| ContentsError::Requests { path: path.to_owned(), what };
    let mut requests = if text.trim_start().starts_with('{') {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line): (usize, &str)| {
            serde_json::from_str(line)
                .map_err(|error| wrong(format!("line {}: {error}", number + 1)))
        };
        lines.map(read).collect::<Result<Vec<SuiteRequest>, _>>()?
    } else {
        let document: Document = toml::from_str(&text)
            .map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        document.request
    };
    if requests.is_empty() {
        return Err(wrong("there is no request in it".to_owned()));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    for one in &mut requests {
        place_body(&mut one.body_file, folder);
    }
    Ok(requests)
}

/// Names the file of a body from here, whose name is one from a folder.
pub(crate) fn place_body(file: &mut Option<String>, folder: &Path) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if let Some(file) = file
        && (folder != Path::new(".") || file.as_str() == "-")
    {
        *file = folder.join(&*file).display().to_string();
    }
}

/// Returns the files of bodies that a file of requests names.
pub fn body_files(path: &Path) -> Result<Vec<PathBuf>, ContentsError> {
    let requests = read_requests(path)?;
    Ok(requests.into_iter().filter_map(|one| one.body_file).map(PathBuf::from).collect())
}

/// Reads them as a mix.
pub fn read_mix(path: &Path, of: MixOf) -> Result<Vec<LoadRequest>, ContentsError> {
    let requests = read_requests(path)?;
    let bodies = read_bodies(requests.iter().filter_map(|one| one.body_file.as_ref()))?;
    let mix = SuiteRequest::mix(&requests, of, &bodies);
    mix.map_err(|source| ContentsError::Mix { path: path.to_owned(), source })
}

/// Reads a body, and says what a record keeps of it.
pub fn read_body(path: &Path) -> Result<(Vec<u8>, LoadBody), ContentsError> {
    let bytes = files::read_bytes(path)?;
    let kept = LoadBody {
        file: path.display().to_string(),
        bytes: bytes.len() as u64,
        digest: digest(&bytes),
    };
    Ok((bytes, kept))
}

/// Returns what records keep of the bodies in files.
pub(crate) fn read_bodies<'a>(
    files: impl Iterator<Item = &'a String>,
) -> Result<LoadBodies, ContentsError> {
    files.map(|file| Ok((file.clone(), read_body(Path::new(file))?.1))).collect()
}

/// Reads values, and says what a record keeps of them.
pub fn read_values(path: &Path) -> Result<(Values, LoadValues), ContentsError> {
    let text = files::read_text(path)?;
    let values = Values::of_csv(&text)
        .map_err(|source| ContentsError::Values { path: path.to_owned(), source })?;
    let kept = LoadValues {
        file: path.display().to_string(),
        columns: values.columns().to_vec(),
        rows: values.rows(),
        digest: values.digest().to_owned(),
    };
    Ok((values, kept))
}

/// Reads due times, and says what a record keeps of them.
pub fn read_times(path: &Path) -> Result<(Vec<u64>, LoadReplay), ContentsError> {
    let text = files::read_text(path)?;
    let times = times_of_text(&text)
        .map_err(|source| ContentsError::Times { path: path.to_owned(), source })?;
    let last = times.iter().max().copied().unwrap_or(0);
    let kept = LoadReplay {
        file: path.display().to_string(),
        requests: times.len() as u64,
        // A file of one moment has no rate; a second is as good as any other time.
        seconds: if last > 0 { last as f64 * 1e-9 } else { 1.0 },
        digest: digest(text.as_bytes()),
    };
    Ok((times, kept))
}

/// Reads what a scenario names: values, times and bodies that are as they were, authorities, and a secret. What is in `read` is there already.
pub fn contents_of(scenario: &Scenario, read: Bodies) -> Result<Contents, ContentsError> {
    let mut contents = Contents { bodies: read, ..Contents::default() };
    let of_requests = scenario.requests.iter().filter_map(|one| one.body_file.as_ref());
    for kept in scenario.body_file.iter().chain(of_requests) {
        if contents.bodies.contains_key(&kept.file) {
            continue;
        }
        let (bytes, now) = read_body(Path::new(&kept.file))?;
        unchanged(&kept.file, &kept.digest, &now.digest)?;
        contents.bodies.insert(kept.file.clone(), bytes.into());
    }
    if let Some(kept) = &scenario.values {
        let (values, now) = read_values(Path::new(&kept.file))?;
        unchanged(&kept.file, &kept.digest, &now.digest)?;
        contents.values = Arc::new(values);
    }
    if let Some(kept) = &scenario.replay {
        let (times, now) = read_times(Path::new(&kept.file))?;
        unchanged(&kept.file, &kept.digest, &now.digest)?;
        contents.times = times.into();
    }
    if let Some(file) = &scenario.cacert {
        contents.authorities = Some(files::read_bytes(Path::new(file))?.into());
    }
    contents.authorization = scenario.authentication.as_ref().map(authorization).transpose()?;
    Ok(contents)
}

/// Refuses a file whose content is another one now.
fn unchanged(file: &str, kept: &str, now: &str) -> Result<(), ContentsError> {
    if now == kept { Ok(()) } else { Err(ContentsError::Changed(file.to_owned())) }
}

/// Reads a secret, and makes the value of a header of it.
fn authorization(authentication: &Authentication) -> Result<String, ContentsError> {
    let (Authentication::Basic(place) | Authentication::Bearer(place)) = authentication;
    let text = match place.strip_prefix("env:") {
        None => files::read_text(Path::new(place))?,
        Some(name) => {
            std::env::var(name).map_err(|_| ContentsError::NoVariable(name.to_owned()))?
        }
    };
    // Editors end a file with a line break.
    let text = text.trim_end_matches(['\r', '\n']);
    match authentication {
        _ if text.is_empty() => Err(ContentsError::NoSecret(place.clone())),
        Authentication::Basic(_) if !text.contains(':') => {
            Err(ContentsError::NoColon(place.clone()))
        }
        Authentication::Basic(_) => Ok(basic_authorization(text)),
        Authentication::Bearer(_) => Ok(bearer_authorization(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with this text.
    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn names(text: &str) -> Result<Vec<String>, String> {
        let (_folder, path) = file(text);
        let mix = read_mix(&path, MixOf::Requests).map_err(|error| error.to_string())?;
        Ok(mix.into_iter().map(|one| one.name).collect())
    }

    #[test]
    fn requests_are_lines_of_json_or_tables_of_toml() {
        let json = "{\"path\": \"/a\"}\n\n{\"name\": \"b\", \"body\": \"{}\"}\n";
        let toml = "[[request]]\npath = '/a'\n[[request]]\nname = 'b'\nbody = '{}'\n";
        for text in [json, toml] {
            assert_eq!(names(text).unwrap(), ["GET /a", "b"]);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = |text| names(text).unwrap_err();
        assert!(wrong("{}\n{\"bod\": 1}\n").contains("line 2: unknown field `bod`"));
        assert!(
            wrong("[[request]]\nbod = 1\n").contains("bod"),
            "{}",
            wrong("[[request]]\nbod = 1\n")
        );
        assert!(wrong("").contains("no request") && wrong("{}\n{}\n").contains("two requests"));
    }

    #[test]
    fn values_that_have_changed_are_refused() {
        let (_folder, path) = file("id\n1\n");
        let (_, kept) = read_values(&path).unwrap();
        assert_eq!((kept.rows, &kept.columns[..]), (1, &["id".to_owned()][..]));
        let scenario = Scenario { values: Some(kept), ..Scenario::default() };
        let contents = || contents_of(&scenario, Bodies::new());
        assert_eq!(contents().unwrap().values.rows(), 1);
        std::fs::write(&path, "id\n2\n").unwrap();
        assert!(matches!(contents(), Err(ContentsError::Changed(_))));
    }

    #[test]
    fn bodies_are_in_files_beside_the_requests_and_must_not_change() {
        let (folder, path) = file("{\"path\": \"/a\", \"body-file\": \"message\"}\n");
        let message = folder.path().join("message");
        std::fs::write(&message, b"\x0a\xff").unwrap();
        let requests = read_mix(&path, MixOf::Calls).unwrap();
        let kept = requests[0].body_file.clone().unwrap();
        assert_eq!((kept.bytes, Path::new(&kept.file)), (2, message.as_path()));
        let scenario = Scenario { requests, ..Scenario::default() };
        let contents = || contents_of(&scenario, Bodies::new());
        assert_eq!(contents().unwrap().bodies[&kept.file], &b"\x0a\xff"[..]);
        std::fs::write(&message, b"\x0a").unwrap();
        assert!(matches!(contents(), Err(ContentsError::Changed(_))));
        // What is read already is not read again.
        let read = Bodies::from([(kept.file, Vec::new().into())]);
        assert!(contents_of(&scenario, read).is_ok());
        std::fs::remove_file(&message).unwrap();
        let error = read_mix(&path, MixOf::Calls).unwrap_err().to_string();
        assert!(error.contains("message"), "{error}");
    }

    #[test]
    fn a_secret_is_read_from_a_file_without_its_line_break() {
        let (_folder, path) = file("Aladdin:open sesame\n");
        let place = path.display().to_string();
        let basic = authorization(&Authentication::Basic(place.clone())).unwrap();
        assert_eq!(basic, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        let bearer = authorization(&Authentication::Bearer(place)).unwrap();
        assert_eq!(bearer, "Bearer Aladdin:open sesame");
    }

    #[test]
    fn a_secret_that_is_not_there_or_is_none_is_refused_without_being_shown() {
        let variable = Authentication::Bearer("env:BECALM_NO_SUCH_VARIABLE".to_owned());
        let error = authorization(&variable).unwrap_err().to_string();
        assert!(error.contains("`BECALM_NO_SUCH_VARIABLE`"), "{error}");
        let (_folder, path) = file("open-sesame");
        let error = authorization(&Authentication::Basic(path.display().to_string())).unwrap_err();
        assert!(!error.to_string().contains("sesame"), "{error}");
        let (_folder, path) = file("\n");
        let nothing = Authentication::Bearer(path.display().to_string());
        assert!(matches!(authorization(&nothing), Err(ContentsError::NoSecret(_))));
    }
}
