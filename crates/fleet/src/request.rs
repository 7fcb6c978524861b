//! A session as work for another machine: its request, and the files that it needs.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use becalm_kernel::interrupt::Interrupt;
use becalm_model::terms::{CommandLine, Elsewhere, Stop, SubjectSource, Terms, TuneProfile};
use becalm_model::{Record, RecordKind, Subject, wire};
use becalm_session::suite::{SuiteError, SuiteFile, SuitePlan};
use becalm_session::{
    Builds, Request, Stand, Tracing, changed_since, is_being_written, longest_log, own_record,
};

use crate::blocks::CanaryProgram;
use crate::error::{FleetError, NotPortable};
use crate::job::{Job, Output, SessionWork, StandWork, Terminal, Work};
use crate::parcel::Parcel;
use crate::store::{StoreError, WorkFolder};

/// How often a session looks whether the one that it continues has ended.
const LOOK: Duration = Duration::from_millis(500);

/// What is to be done elsewhere, and what that needs.
#[derive(Debug)]
pub struct Errand {
    /// What is to be done.
    work: Work,
    /// The files that it needs.
    parcel: Parcel,
    /// Files that it writes, of which the contents are sent back.
    outputs: Vec<Output>,
    /// Whether it asks for something that root does.
    pub(crate) wants_root: bool,
}

impl Errand {
    /// Refuses a session that cannot be carried out elsewhere. It reads no file, and so may come before the connection.
    pub fn check(request: &Request) -> Result<(), NotPortable> {
        refuse_what_stays(request)
    }

    /// Packs the session of a request whose terms say that it runs elsewhere; `folder` is the present one.
    pub fn pack(mut request: Request, folder: &Path) -> Result<Self, FleetError> {
        Self::check(&request)?;
        make_relative(&mut request.terms, folder);
        let mut parcel = Parcel::new(folder);
        add_files(&mut request, &mut parcel)?;
        let builds = request.builds.as_ref();
        let stands = builds.map(|builds| {
            let stand = |stand: &Stand| StandWork {
                folder: stand.folder.clone(),
                place: stand.place.clone(),
                inside: stand.inside.clone(),
            };
            builds.stands.iter().map(stand).collect()
        });
        let mut notes = builds.map(|builds| builds.notes.clone()).unwrap_or_default();
        if let (Some(resumed), None) = (&request.resumed, builds) {
            let programs = request.subjects.iter().filter_map(|subject| subject.command.first());
            let programs = programs.map(Path::new).filter(|path| path.is_relative());
            notes.extend(changed_since(resumed.started_at, programs));
        }
        let runs = &request.terms.runs;
        let wants_root = runs.tune.is_some()
            || runs.isolate
            || runs.trace
            || runs.scheduler.is_some()
            || runs.nice.is_some_and(|nice| nice < 0)
            || runs.cache != becalm_model::conditions::Cache::AsIs;
        let traced = match request.tracing {
            Tracing::Only(subject) => Some(subject),
            Tracing::Off | Tracing::Every => None,
        };
        let continued = request.resumed.as_ref().map(wire::unworded);
        let asked = Record {
            arguments: request.arguments,
            confidence: request.terms.confidence,
            margin: request.terms.margin,
            aa: request.aa,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            subjects: request.subjects,
            terms: Some(request.terms),
            ..Record::empty(request.kind)
        };
        let (asked, command) = (wire::unworded(&asked), request.command);
        let work = SessionWork { command, asked, continued, traced, stands, notes };
        let work = Work::Session(Box::new(work));
        Ok(Self { work, parcel, outputs: Vec::new(), wants_root })
    }

    /// Returns a command that is no session, by its arguments. It may ask for anything that root does.
    pub fn command(arguments: Vec<String>, parcel: Parcel, outputs: Vec<Output>) -> Self {
        Self { work: Work::Command(arguments), parcel, outputs, wants_root: true }
    }

    /// Returns it as a job for a far end that keeps its files in this folder.
    pub(crate) fn job(self, store: &Path, is_shared: bool, terminal: Terminal) -> Job {
        let Self { work, parcel, outputs, .. } = self;
        Job {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            work,
            terminal,
            store: store.to_owned(),
            is_shared,
            folder: parcel.folder().to_owned(),
            items: parcel.items(),
            outputs,
        }
    }
}

/// Rounds of a canary: about a second.
const CANARY_ROUNDS: u32 = 20;

/// Returns the session that measures a canary.
pub(crate) fn canary_request(program: &CanaryProgram) -> Request {
    let command = program.command.clone();
    let terms = Terms {
        source: SubjectSource::Commands { commands: vec![CommandLine::Words(command.clone())] },
        warmup: 2,
        stop: Stop::Rounds(CANARY_ROUNDS),
        metrics: vec![program.metric.clone()],
        elsewhere: Some(Elsewhere::default()),
        ..Terms::default()
    };
    let subjects = vec![Subject::new("canary", command)];
    Request::new("fleet run", RecordKind::Run, terms, subjects, Vec::new())
}

/// Refuses what would not arrive, or would be lost there.
fn refuse_what_stays(request: &Request) -> Result<(), NotPortable> {
    let runs = &request.terms.runs;
    match &request.builds {
        None if runs.build.is_some() => return Err(NotPortable::Build),
        Some(builds) if !builds.layouts.is_single() => return Err(NotPortable::Layouts),
        _ => {}
    }
    match runs.output.as_str() {
        "null" | "inherit" => Ok(()),
        file => Err(NotPortable::Output(file.to_owned())),
    }
}

/// Gives the files that the terms name paths relative to the folder, so that they mean the same there as here.
fn make_relative(terms: &mut Terms, folder: &Path) {
    let relative = |path: &mut PathBuf| *path = relative_to(path, folder);
    let runs = &mut terms.runs;
    if let Some(input) = runs.input.as_mut().filter(|input| input.is_absolute() && input.is_file())
    {
        relative(input);
    }
    if let Some(expected) = &mut runs.expect_output {
        let mut path = PathBuf::from(&*expected);
        relative(&mut path);
        *expected = path.to_string_lossy().into_owned();
    }
    if let Some(TuneProfile::File(path)) = &mut runs.tune {
        relative(path);
    }
    if let SubjectSource::Suite { file: Some(path), .. } = &mut terms.source {
        relative(path);
    }
}

/// Returns an absolute path as seen from a folder; another one stays.
pub fn relative_to(path: &Path, folder: &Path) -> PathBuf {
    if !path.is_absolute() {
        return path.to_owned();
    }
    let common = path.components().zip(folder.components()).take_while(|(one, other)| one == other);
    let common = common.count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

/// Adds the programs of the subjects, the files that their commands and the terms name, and what the user sends.
fn add_files(request: &mut Request, parcel: &mut Parcel) -> Result<(), FleetError> {
    let folder = parcel.folder().to_owned();
    let starts = request.suite.as_ref().map(|suite| &suite.starts);
    let stands = request.builds.as_ref().map(|builds| &builds.stands);
    for (index, subject) in request.subjects.iter_mut().enumerate() {
        let stand = stands.and_then(|stands| stands.get(index)).map(Stand::built);
        let start = starts.and_then(|starts| starts.get(index)).map(|start| &start.folder);
        let from = stand.as_ref().or(start).map_or(folder.clone(), |inner| folder.join(inner));
        if let Some(program) = subject.command.first_mut()
            && Path::new(program).starts_with(&folder)
        {
            *program = format!("./{}", relative_to(Path::new(program), &folder).display());
        }
        add_words(subject, &from, parcel)?;
        if stand.is_some() || start.is_some() {
            // The folder has to exist, even if no file of it is named.
            parcel.add_folder(&from);
        }
        if let Some(sent) = request.terms.elsewhere.as_ref().filter(|_| stand.is_some()) {
            // Of each build its own, where it has one.
            let own = sent.send.iter().filter(|path| path.is_relative());
            for path in own.map(|path| from.join(path)).filter(|path| path.exists()) {
                parcel.add(&path)?;
            }
        }
    }
    let runs = &request.terms.runs;
    let expected = runs.expect_output.as_ref().map(PathBuf::from);
    let expected = expected.filter(|path| path.is_file());
    let profile = match &runs.tune {
        Some(TuneProfile::File(path)) => Some(path.clone()),
        _ => None,
    };
    let inputs = request.suite.iter().flat_map(|suite| &suite.starts);
    let inputs = inputs.filter_map(|start| Some(start.folder.join(start.input.as_ref()?)));
    let mut named: Vec<PathBuf> = inputs.collect();
    named.extend([runs.input.clone(), expected, profile].into_iter().flatten());
    if let SubjectSource::Suite { file, .. } = &request.terms.source {
        named.push(SuiteFile::read(file.as_deref())?.path);
    }
    named.extend(request.terms.elsewhere.iter().flat_map(|place| place.send.clone()));
    for path in named {
        parcel.add(&path)?;
    }
    Ok(())
}

/// Adds the program of a subject if its name is a relative path, and each file that another word of its command names.
fn add_words(subject: &Subject, folder: &Path, parcel: &mut Parcel) -> Result<(), FleetError> {
    for (index, word) in subject.command.iter().enumerate() {
        let path = Path::new(word);
        let is_program = index == 0;
        if path.is_absolute() || is_program && !word.contains('/') {
            // A program that is looked for there.
            continue;
        }
        let here = folder.join(path);
        if here.is_file() {
            parcel.add(&here)?;
        } else if is_program && !here.exists() {
            return Err(NotPortable::Missing(path.to_owned()).into());
        }
    }
    Ok(())
}

impl SessionWork {
    /// Returns the session as it is carried out here, where its files are in `work`. If a lost connection was its last one,
    /// waits for the end of that becalm, after it has said so by `waits`.
    pub(crate) fn request(
        self,
        work: &WorkFolder,
        interrupt: &Interrupt,
        waits: &dyn Fn(),
    ) -> Result<Request, FarSessionError> {
        let (asked, _) = own_record(&self.asked)?;
        let terms = asked.terms.unwrap_or_default();
        let suite = SuitePlan::of_terms(&terms)?.map(|(_, plan)| plan);
        let stands = self.stands.unwrap_or_default();
        let has_more = !stands.is_empty() || !self.notes.is_empty();
        let stands = stands.into_iter().map(|stand| {
            let place = work.at(&stand.place);
            place
                .parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .map_err(|source| StoreError::Write { path: place.clone(), source })?;
            Ok(Stand { folder: work.at(&stand.folder), place, inside: stand.inside })
        });
        let stands = stands.collect::<Result<Vec<_>, StoreError>>()?;
        let builds = Builds { stands, notes: self.notes, ..Builds::default() };
        let resumed = match &self.continued {
            Some(text) => Some(longer(own_record(text)?.0, interrupt, waits)),
            None => None,
        };
        let mut request =
            Request::new(self.command, asked.kind, terms, asked.subjects, asked.arguments);
        request.aa = asked.aa;
        request.resumed = resumed;
        request.builds = has_more.then_some(builds);
        request.suite = suite;
        if let Some(subject) = self.traced {
            request.tracing = Tracing::Only(subject);
        }
        Ok(request)
    }
}

/// Returns the session that goes on: as it was saved on the other side, or with more runs if the log here has them, because
/// the connection was lost. A becalm here may not have noticed that yet: what it still finishes must count too.
fn longer(saved: Record, interrupt: &Interrupt, waits: &dyn Fn()) -> Record {
    if is_being_written(&saved) {
        waits();
        while interrupt.sleep(LOOK) && is_being_written(&saved) {}
    }
    match longest_log(&saved).filter(|here| here.runs.len() > saved.runs.len()) {
        Some(Record { runs, metrics, .. }) => {
            Record { runs, metrics, comparisons: Vec::new(), ..saved }
        }
        None => saved,
    }
}

/// Why a session cannot be carried out by the far end.
#[derive(Debug, thiserror::Error)]
pub enum FarSessionError {
    /// The request is damaged.
    #[error(transparent)]
    Request(#[from] becalm_model::wire::LogError),
    /// The suite cannot be read.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// Its files have no place.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_as_seen_from_a_folder() {
        let check = |path: &str, expected: &str| {
            assert_eq!(
                relative_to(Path::new(path), Path::new("/a/b")),
                Path::new(expected),
                "{path}"
            );
        };
        check("/a/b/c", "c");
        check("/a/c", "../c");
        check("/x/y", "../../x/y");
        check("c/d", "c/d");
    }
}
