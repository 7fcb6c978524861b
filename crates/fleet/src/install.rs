//! becalm on the other machine: found, or copied there once for each version and architecture.
//!
//! It is found by the hash of its content, in a folder that only the user can look into.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::error::FleetError;
use crate::program::BecalmFile;
use crate::ssh::{Ended, Ssh};
use crate::step::Step;

/// A becalm that is ready to be started on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its path there.
    pub becalm: String,
    /// Where it keeps files there.
    pub store: PathBuf,
    /// The architecture of the machine, as `uname -m` says.
    pub architecture: String,
    /// Seconds by which the clock there is ahead of the one here.
    pub clock_ahead: i64,
}

/// Exit codes of the scripts.
const NO_FOLDER: i32 = 41;
const NOT_WRITTEN: i32 = 42;
const DAMAGED: i32 = 43;
const NOT_STARTED: i32 = 44;

/// What a shell says of a program that it may not execute.
const FORBIDDEN: i32 = 126;

/// Finds becalm on the host, or copies it there.
pub(crate) fn install(ssh: &Ssh, step: &dyn Fn(Step<'_>)) -> Result<Installed, FleetError> {
    let host = ssh.host();
    if let Some(becalm) = &host.becalm {
        return Ok(look(ssh, None)?.installed(becalm.display().to_string()));
    }
    let mut program = BecalmFile::own()?;
    let mut found = look(ssh, Some(&program))?;
    if found.architecture != std::env::consts::ARCH {
        let other = BecalmFile::of_architecture(&found.architecture);
        program = other.unwrap_or_else(|| {
            Err(FleetError::Architecture {
                host: host.name.clone(),
                there: found.architecture.clone(),
            })
        })?;
        found = look(ssh, Some(&program))?;
    }
    let becalm = format!("{}/bin/{}", found.store.trim_end_matches('/'), program.name());
    if found.hash.as_ref() != Some(&program.hash) {
        copy(ssh, &found.store, &program, step)?;
    }
    Ok(found.installed(becalm))
}

/// What a look at the host shows.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    store: String,
    architecture: String,
    clock_ahead: i64,
    /// The hash of the becalm that is there.
    hash: Option<String>,
}

impl Found {
    fn installed(self, becalm: String) -> Installed {
        let Self { store, architecture, clock_ahead, .. } = self;
        Installed { becalm, store: store.into(), architecture, clock_ahead }
    }
}

/// Looks for a copy of this becalm, and where it could be.
fn look(ssh: &Ssh, program: Option<&BecalmFile>) -> Result<Found, FleetError> {
    let given = ssh.host().folder.as_ref().map(|folder| folder.display().to_string());
    let given = given.unwrap_or_default();
    let script = format!(
        r#"umask 077
echo "system $(uname -s) $(uname -m)"
echo "clock $(date +%s)"
store={store}
[ -n "$store" ] || store=${{XDG_CACHE_HOME:-$HOME/.cache}}/becalm
echo "wanted $store"
mkdir -p "$store/bin" && cd "$store" && [ -w bin ] || exit {NO_FOLDER}
echo "store $(pwd -P)"
{hash_it}
"#,
        store = shell_words::quote(&given),
        hash_it = program.map(hash_line).unwrap_or_default(),
    );
    let (output, ended) = ssh.script(&script)?;
    let host = ssh.host().name.clone();
    let value = |key: &str| {
        let mut lines = output.lines();
        lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')).map(str::to_owned)
    };
    let system = value("system");
    if let Some(system) = system.as_deref().and_then(|system| system.split(' ').next())
        && system != "Linux"
    {
        return Err(FleetError::NotLinux { host, system: system.to_owned() });
    }
    if ended.status.code() == Some(NO_FOLDER) {
        let folder = value("wanted").unwrap_or(given);
        return Err(FleetError::NoPlace { host, folder, text: ended.last_line() });
    }
    let parsed = || {
        let (_, architecture) = system.as_deref()?.split_once(' ')?;
        let clock: i64 = value("clock")?.parse().ok()?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
        Some(Found {
            store: value("store").filter(|store| store.starts_with('/'))?,
            architecture: architecture.to_owned(),
            clock_ahead: clock - i64::try_from(now).ok()?,
            hash: value("hash").and_then(|line| line.split(' ').next().map(str::to_owned)),
        })
    };
    parsed().ok_or_else(|| {
        let text = if output.trim().is_empty() { &ended.text } else { &output };
        FleetError::Answer { host, text: crate::ssh::last_line(text) }
    })
}

/// Returns the line of a script that prints the hash of a becalm, if there is one. It counts as used now; one with another
/// hash is replaced anyway.
fn hash_line(program: &BecalmFile) -> String {
    let name = program.name();
    format!(
        "[ ! -f bin/{name} ] || {{ touch -c bin/{name}; echo \"hash $(sha256sum < bin/{name})\"; }}"
    )
}

fn copy(
    ssh: &Ssh,
    store: &str,
    program: &BecalmFile,
    step: &dyn Fn(Step<'_>),
) -> Result<(), FleetError> {
    let (mut from, size) = program.open()?;
    let script = format!(
        r#"umask 077
cd {store} || exit {NO_FOLDER}
new=bin/.new-$$
trap 'rm -f "$new"' EXIT
cat > "$new" && chmod 700 "$new" || exit {NOT_WRITTEN}
[ "$(sha256sum < "$new")" = "{hash}  -" ] || exit {DAMAGED}
mv -f "$new" bin/{name} || exit {NOT_WRITTEN}
./bin/{name} --version
code=$?
[ $code = 0 ] || echo "failed $code"
[ $code = 0 ] || exit {NOT_STARTED}
"#,
        store = shell_words::quote(store),
        hash = program.hash,
        name = program.name(),
    );
    let line = format!("exec sh -c {}", shell_words::quote(&script));
    let (output, ended) = ssh.run(&line, |to| {
        let mut buffer = vec![0; 1 << 17];
        let mut sent = 0;
        loop {
            let read = from.read(&mut buffer)?;
            if read == 0 {
                return to.flush();
            }
            to.write_all(&buffer[..read])?;
            sent += read as u64;
            step(Step::Installing { sent, size });
        }
    })?;
    copied(ssh, store, program, &output, &ended)
}

/// Says why becalm could not be copied, or does not start.
fn copied(
    ssh: &Ssh,
    store: &str,
    program: &BecalmFile,
    output: &str,
    ended: &Ended,
) -> Result<(), FleetError> {
    let host = ssh.host().name.clone();
    let text = ended.last_line();
    match ended.status.code() {
        Some(0) => Ok(()),
        Some(NO_FOLDER | NOT_WRITTEN) => {
            Err(FleetError::NoPlace { host, folder: store.to_owned(), text })
        }
        Some(DAMAGED) => Err(FleetError::Answer {
            host,
            text: "the copy of becalm has another hash, or sha256sum is not installed".to_owned(),
        }),
        _ => Err(FleetError::NotStarted {
            host,
            path: format!("{store}/bin/{}", program.name()),
            text,
            is_forbidden: output.contains(&format!("failed {FORBIDDEN}")),
        }),
    }
}
