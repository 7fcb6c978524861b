//! A PostgreSQL server of our own, for as long as the tests of one program run.

use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::certificate::signed_certificate;

/// How long the server may take to start.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server that listens at a Unix socket in a folder of its own.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    folder: PathBuf,
    user: Option<(u32, u32)>,
    made: AtomicU32,
    /// Where it listens on loopback, with TLS alone.
    port: Option<u16>,
    /// Its standard input: when this process ends, the server does.
    _watcher: Child,
}

static SERVER: LazyLock<Result<PostgresServer, String>> =
    LazyLock::new(|| PostgresServer::start(false));

static WITH_TLS: LazyLock<Result<PostgresServer, String>> =
    LazyLock::new(|| PostgresServer::start(true));

/// Returns the server of this test program, which is started when it is asked for first, or why there is
/// none: then the test is to be [`crate::skipped`].
pub fn postgres() -> Result<&'static PostgresServer, &'static str> {
    SERVER.as_ref().map_err(String::as_str)
}

/// The same of one that also listens on loopback, where it accepts only what is encrypted. Its certificate is for `localhost`.
pub fn postgres_with_tls() -> Result<&'static PostgresServer, &'static str> {
    WITH_TLS.as_ref().map_err(String::as_str)
}

/// Ends the server when its standard input ends, and takes its folder away.
const WATCH: &str = r#"
programs=$1
folder=$2
shift 2
"$programs/postgres" -D "$folder/data" -k "$folder" "$@" >"$folder/log" 2>&1 &
echo $! >"$folder/process"
read -r _
kill -INT $!
wait $!
rm -rf "$folder"
"#;

impl PostgresServer {
    fn start(with_tls: bool) -> Result<Self, String> {
        let programs =
            programs().ok_or("PostgreSQL's server is not installed (package postgresql)")?;
        let folder = tempfile::Builder::new()
            .prefix("becalm-postgres-")
            // Not where `TMPDIR` says: the path of its socket may have 107 bytes only.
            .tempdir_in("/tmp")
            .map_err(|error| format!("no folder for PostgreSQL can be made: {error}"))?
            .keep();
        // PostgreSQL refuses to be root.
        let is_root = folder.metadata().is_ok_and(|facts| facts.uid() == 0);
        let user = if is_root {
            Some(ordinary_user().ok_or("there is no user that PostgreSQL could run as")?)
        } else {
            None
        };
        if let Some((uid, gid)) = user {
            std::os::unix::fs::chown(&folder, Some(uid), Some(gid))
                .map_err(|error| format!("PostgreSQL cannot be given its folder: {error}"))?;
        }
        let mut make = as_user(programs.join("initdb"), user);
        make.args(["--auth=trust", "--username=becalm", "--encoding=UTF8", "--no-locale", "-D"]);
        let made = make.arg(folder.join("data")).current_dir(&folder).output();
        let made = made.map_err(|error| format!("initdb cannot be started: {error}"))?;
        if !made.status.success() {
            return Err(format!("initdb failed: {}", String::from_utf8_lossy(&made.stderr)));
        }
        let port = if with_tls { Some(encrypt(&folder, user)?) } else { None };
        let mut watch = as_user("/bin/sh".into(), user);
        watch.args(["-c", WATCH, "sh"]).arg(&programs).arg(&folder).current_dir(&folder);
        match port {
            None => watch.args(["-c", "listen_addresses="]),
            Some(port) => {
                watch.args(["-c", "listen_addresses=127.0.0.1", "-c", "ssl=on", "-c"]).args([
                    "ssl_cert_file=../cert",
                    "-c",
                    "ssl_key_file=../key",
                    "-p",
                    &port.to_string(),
                ])
            }
        };
        let watcher = watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let watcher = watcher.spawn().map_err(|error| format!("sh cannot be started: {error}"))?;
        let server =
            Self { programs, folder, user, made: AtomicU32::new(0), port, _watcher: watcher };
        let since = Instant::now();
        while server.client("pg_isready", &[]).is_err() {
            if server.has_ended() || since.elapsed() > PATIENCE {
                let log = std::fs::read_to_string(server.folder.join("log")).unwrap_or_default();
                return Err(format!("PostgreSQL does not start: {}", log.trim()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Says whether there was a process of the server that is no more.
    fn has_ended(&self) -> bool {
        let process = std::fs::read_to_string(self.folder.join("process")).unwrap_or_default();
        let stat = format!("/proc/{}/stat", process.trim_end());
        process.ends_with('\n')
            && std::fs::read_to_string(stat).map_or(true, |stat| stat.contains(") Z "))
    }

    /// Makes an empty database and returns its URL.
    pub fn database(&self) -> String {
        let name = format!("test{}", self.made.fetch_add(1, Ordering::Relaxed));
        self.client("createdb", &[&name]).expect("a database can be made");
        let host = self.folder.display().to_string().replace('/', "%2F");
        match self.port {
            None => format!("postgresql://becalm@{host}/{name}"),
            Some(port) => format!("postgresql://becalm@localhost:{port}/{name}"),
        }
    }

    /// Returns the certificate of one with TLS, and that of the authority that has signed it.
    pub fn certificates(&self) -> [PathBuf; 2] {
        ["cert", "authority"].map(|name| self.folder.join(name))
    }

    /// Runs a program of PostgreSQL against this server.
    fn client(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let mut command = as_user(self.programs.join(program), self.user);
        command.arg("-h").arg(&self.folder).args(["-U", "becalm"]);
        command.args(self.port.map(|port| format!("-p{port}"))).args(arguments);
        let done = command.current_dir(&self.folder).output().map_err(|error| error.to_string())?;
        if done.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&done.stderr).into_owned())
        }
    }
}

/// Gives a server a certificate and a port, on which it accepts nothing that is not encrypted.
fn encrypt(folder: &Path, user: Option<(u32, u32)>) -> Result<u16, String> {
    signed_certificate(folder, "localhost")?;
    let (uid, gid) = user.unzip();
    let io = |error: std::io::Error| error.to_string();
    for name in ["cert", "key"] {
        std::os::unix::fs::chown(folder.join(name), uid, gid).map_err(io)?;
    }
    let rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
    std::fs::write(folder.join("data/pg_hba.conf"), rules).map_err(io)?;
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).map_err(io)?;
    Ok(port.port())
}

fn as_user(program: PathBuf, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program);
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

/// Returns the folder of the newest server; Debian keeps it out of the path.
fn programs() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = folders
        .filter_map(|folder| {
            let version = folder.file_name().to_str()?.parse().ok()?;
            Some((version, folder.path().join("bin")))
        })
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let newest = versions.into_iter().rev().map(|(_, folder)| folder);
    newest.chain(in_path).find(|folder| has_all(folder))
}

fn has_all(folder: &Path) -> bool {
    ["initdb", "postgres", "createdb", "pg_isready"]
        .iter()
        .all(|program| folder.join(program).is_file())
}

/// Returns the ids of a user without rights: that of PostgreSQL's package, or nobody.
fn ordinary_user() -> Option<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let of = |name: &str| {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let is_it = fields.next() == Some(name);
            let mut numbers = fields.skip(1).map_while(|field| field.parse().ok());
            is_it.then_some((numbers.next()?, numbers.next()?))
        })
    };
    of("postgres").or_else(|| of("nobody"))
}
