//! becalm on the other machine: found, or copied there once for each version and architecture.
//!
//! It is found by the hash of its content, in a folder that only the user can look into.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::FleetError;
use crate::hash;
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
    let own = |path: &Path, source| FleetError::Here { path: path.to_owned(), source };
    let host = ssh.host();
    if let Some(becalm) = &host.becalm {
        return Ok(look(ssh, None)?.installed(becalm.display().to_string()));
    }
    let mut path = PathBuf::from("/proc/self/exe");
    let mut hash = hash_of(&path)?;
    let mut found = look(ssh, Some(&hash))?;
    if found.architecture != std::env::consts::ARCH {
        path = for_architecture(&found.architecture).ok_or_else(|| FleetError::Architecture {
            host: host.name.clone(),
            there: found.architecture.clone(),
        })?;
        hash = hash_of(&path)?;
        found = look(ssh, Some(&hash))?;
    }
    let becalm = format!("{}/{}", found.store.trim_end_matches('/'), name(&hash));
    if found.hash.as_deref() != Some(&hash) {
        let file = File::open(&path).map_err(|source| own(&path, source))?;
        let size = file.metadata().map_err(|source| own(&path, source))?.len();
        copy(ssh, &found.store, &hash, file, size, step)?;
    }
    Ok(found.installed(becalm))
}

fn hash_of(path: &Path) -> Result<String, FleetError> {
    let hash = File::open(path).and_then(hash::of);
    hash.map(|(hash, _)| hash).map_err(|source| FleetError::Here { path: path.to_owned(), source })
}

/// Returns the becalm for another architecture that is installed beside this one.
fn for_architecture(architecture: &str) -> Option<PathBuf> {
    let is_plain = architecture.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let own = std::env::current_exe().ok().filter(|_| is_plain)?;
    let folder = own.parent()?;
    let name = format!("becalm-{architecture}");
    [folder.join(&name), folder.join("../lib/becalm").join(&name)]
        .into_iter()
        .find(|path| path.is_file())
}

fn name(hash: &str) -> String {
    format!("bin/becalm-{}", &hash[..16])
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

/// Looks for the becalm of this hash, and where it could be.
fn look(ssh: &Ssh, hash: Option<&str>) -> Result<Found, FleetError> {
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
        hash_it = hash.map(hash_line).unwrap_or_default(),
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

/// Returns the line of a script that prints the hash of a becalm, if there is one.
fn hash_line(hash: &str) -> String {
    format!("[ ! -f {0} ] || echo \"hash $(sha256sum < {0})\"", name(hash))
}

fn copy(
    ssh: &Ssh,
    store: &str,
    hash: &str,
    mut from: File,
    size: u64,
    step: &dyn Fn(Step<'_>),
) -> Result<(), FleetError> {
    let script = format!(
        r#"umask 077
cd {store} || exit {NO_FOLDER}
new=bin/.new-$$
trap 'rm -f "$new"' EXIT
cat > "$new" && chmod 700 "$new" || exit {NOT_WRITTEN}
[ "$(sha256sum < "$new")" = "{hash}  -" ] || exit {DAMAGED}
mv -f "$new" {name} || exit {NOT_WRITTEN}
./{name} --version
code=$?
[ $code = 0 ] || echo "failed $code"
[ $code = 0 ] || exit {NOT_STARTED}
"#,
        store = shell_words::quote(store),
        name = name(hash),
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
    copied(ssh, store, hash, &output, &ended)
}

/// Says why becalm could not be copied, or does not start.
fn copied(
    ssh: &Ssh,
    store: &str,
    hash: &str,
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
            path: format!("{store}/{}", name(hash)),
            text,
            is_forbidden: output.contains(&format!("failed {FORBIDDEN}")),
        }),
    }
}
