//! A URL of PostgreSQL: the client library reads it, except what it says about TLS beyond the least.

use std::error::Error as _;

use becalm_tls::{Roots, Trust};
use postgres::Config;
use postgres::config::{Host, SslMode};

use crate::error::StoreError;

/// What a URL asks for.
pub(super) struct Asked {
    pub(super) config: Config,
    /// Where that is, without the password.
    pub(super) place: String,
    pub(super) encryption: Encryption,
}

/// How a connection is encrypted, as libpq's `sslmode` names it.
#[derive(Debug, Clone)]
pub(super) enum Encryption {
    /// `disable`, and every connection by a Unix socket.
    Never,
    /// `prefer`: if the server can, and otherwise not.
    IfPossible(Trust),
    /// `require`, `verify-ca` and `verify-full`.
    Always(Trust),
}

/// What parameters of a URL say about TLS.
#[derive(Debug, Default)]
struct Wanted {
    mode: Option<String>,
    roots: Option<String>,
}

impl Asked {
    /// Reads a URL. What is said of a wrong one never holds the URL, which may have a password.
    pub(super) fn read(url: &str) -> Result<Self, StoreError> {
        let (rest, wanted) = Wanted::take(url)?;
        let config: Config = rest.parse().map_err(|error: postgres::Error| {
            wrong(error.source().map_or_else(|| error.to_string(), ToString::to_string))
        })?;
        let is_socket = |host: &Host| matches!(host, Host::Unix(_));
        let encryption = if config.get_hosts().iter().all(is_socket) {
            Encryption::Never
        } else {
            wanted.encryption(|path| {
                std::fs::read(path).map_err(|error| format!("sslrootcert: {path}: {error}"))
            })?
        };
        Ok(Self { place: shown(&config), config, encryption })
    }
}

impl Encryption {
    /// Returns what the client library knows of it.
    pub(super) fn mode(&self) -> SslMode {
        match self {
            Self::Never => SslMode::Disable,
            Self::IfPossible(_) => SslMode::Prefer,
            Self::Always(_) => SslMode::Require,
        }
    }
}

impl Wanted {
    /// Takes out of a URL what it says about TLS.
    fn take(url: &str) -> Result<(String, Self), StoreError> {
        let mut wanted = Self::default();
        let Some((before, query)) = url.split_once('?') else {
            return Ok((url.to_owned(), wanted));
        };
        let mut kept = Vec::new();
        for part in query.split('&') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            match name {
                "sslmode" => wanted.mode = Some(plain(value)),
                "sslrootcert" => wanted.roots = Some(plain(value)),
                "sslcert" | "sslkey" => {
                    return Err(wrong(format!(
                        "it has {name}, but this becalm cannot show a certificate of its own: use a password"
                    )));
                }
                _ => kept.push(part),
            }
        }
        let rest = if kept.is_empty() {
            before.to_owned()
        } else {
            format!("{before}?{}", kept.join("&"))
        };
        Ok((rest, wanted))
    }

    /// Returns what that means, as libpq means it: whoever names authorities has them verified in every mode.
    fn encryption(
        self,
        read: impl FnOnce(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Encryption, StoreError> {
        let mode = self.mode.as_deref().unwrap_or("prefer");
        let is_system = self.roots.as_deref() == Some("system");
        if mode == "disable" {
            return Ok(Encryption::Never);
        }
        if is_system && mode != "verify-full" {
            return Err(wrong("sslrootcert=system needs sslmode=verify-full".to_owned()));
        }
        let roots = match self.roots.as_deref() {
            None => None,
            Some("system") => Some(Roots::public()),
            Some(path) => {
                let pem = read(path).map_err(wrong)?;
                let roots = Roots::of(&pem);
                Some(roots.map_err(|error| wrong(format!("sslrootcert: {path}: {error}")))?)
            }
        };
        match (mode, roots) {
            ("prefer", None) => Ok(Encryption::IfPossible(Trust::Anybody)),
            ("prefer", Some(roots)) => Ok(Encryption::IfPossible(Trust::Signed(roots))),
            ("require", None) => Ok(Encryption::Always(Trust::Anybody)),
            ("require" | "verify-ca", Some(roots)) => Ok(Encryption::Always(Trust::Signed(roots))),
            ("verify-full", Some(roots)) => Ok(Encryption::Always(Trust::SignedFor(roots))),
            ("verify-ca" | "verify-full", None) => Err(wrong(format!(
                "sslmode={mode} needs sslrootcert=FILE with the certificate of the server's authority"
            ))),
            _ => Err(wrong(
                "sslmode must be disable, prefer, require, verify-ca or verify-full".to_owned(),
            )),
        }
    }
}

fn wrong(problem: String) -> StoreError {
    StoreError::HistoryLocation { place: "this PostgreSQL URL".to_owned(), problem }
}

/// Takes the escapes out of a value.
fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let escaped = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(known) => (out.push(known), at += 3).1,
            None => (out.push(*byte), at += 1).1,
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns where a server is, without the password.
fn shown(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    let name = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgresql://{user}{host}{port}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(url: &str) -> Result<Asked, String> {
        Asked::read(url).map_err(|error| error.to_string())
    }

    #[test]
    fn a_password_is_never_shown() {
        let found = asked("postgresql://me:secret@db.example:5433/perf").unwrap();
        assert_eq!(found.place, "postgresql://me@db.example:5433/perf");
        for url in [
            "postgresql://me:secret@h:port/x",
            "postgresql://me:secret@h/x?nonsense=1",
            "postgresql://me:secret@h/x?sslmode=nonsense",
            "postgresql://me:secret@h/x?sslrootcert=/nowhere",
        ] {
            let told = asked(url).err().unwrap();
            assert!(!told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn modes_are_those_of_libpq() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("nobody.pem");
        std::fs::write(&file, "no certificate").unwrap();
        let of = |query: &str| asked(&format!("postgresql://h/x?{query}")).map(|it| it.encryption);
        assert!(matches!(of(""), Ok(Encryption::IfPossible(Trust::Anybody))));
        assert!(matches!(of("connect_timeout=3&sslmode=disable"), Ok(Encryption::Never)));
        assert!(matches!(of("sslmode=require"), Ok(Encryption::Always(Trust::Anybody))));
        let public = of("sslmode=verify-full&sslrootcert=system");
        assert!(matches!(public, Ok(Encryption::Always(Trust::SignedFor(_)))));
        // Nobody gets less than they ask for.
        for wrong in [
            "sslmode=verify-ca",
            "sslmode=verify-full",
            "sslmode=allow",
            "sslmode=",
            "sslmode=require&sslrootcert=system",
            "sslmode=verify-full&sslrootcert=/nowhere",
            &format!("sslmode=verify-full&sslrootcert={}", file.display()),
            "sslcert=me.pem",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        // A Unix socket needs none.
        let socket = asked("postgresql://%2Ftmp/x?sslmode=require").unwrap();
        assert!(matches!(socket.encryption, Encryption::Never));
        assert_eq!(plain("%2Ftmp%2f%zz%"), "/tmp/%zz%");
    }
}
