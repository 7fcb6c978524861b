//! A URL of PostgreSQL: the client library reads it, except what it says about TLS beyond the least, and which schema has
//! the history.

use std::error::Error as _;

use becalm_tls::{Roots, Trust};
use postgres::Config;
use postgres::config::{Host, SslMode};

use crate::error::StoreError;
use crate::hash::number_of;

/// What a URL asks for.
pub(super) struct Asked {
    pub(super) config: Config,
    /// Where that is, without the password.
    pub(super) place: String,
    pub(super) encryption: Encryption,
    pub(super) schema: Schema,
}

/// The schema that has the tables: a database has a history for each of its schemas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schema(String);

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

/// What parameters of a URL say that the client library does not know.
#[derive(Debug, Default)]
struct Wanted {
    mode: Option<String>,
    roots: Option<String>,
    schema: Option<String>,
}

impl Schema {
    /// The one where a URL names none.
    const USUAL: &'static str = "becalm";

    /// Bytes of an identifier: the server cuts longer ones.
    const LONGEST: usize = 63;

    /// Those of the server, and the one where other programs put what they have.
    const OF_OTHERS: [&'static str; 2] = ["information_schema", "public"];

    fn read(name: Option<String>) -> Result<Self, StoreError> {
        let Some(name) = name else { return Ok(Self(Self::USUAL.to_owned())) };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || name.len() > Self::LONGEST || !name.bytes().all(is_plain) {
            return Err(wrong(format!(
                "schema must have 1 to {} letters, digits, `_` or `-`",
                Self::LONGEST
            )));
        }
        if name.starts_with("pg_") || Self::OF_OTHERS.contains(&name.as_str()) {
            return Err(wrong(format!(
                "the schema {name} is not for becalm alone: choose another name"
            )));
        }
        Ok(Self(name))
    }

    pub(super) fn name(&self) -> &str {
        &self.0
    }

    /// Returns it as a part of a statement.
    pub(super) fn quoted(&self) -> String {
        // No name has a quote.
        format!("\"{}\"", self.0)
    }

    /// Returns the number of its lock: writers of one history wait for each other, and those of another do not.
    pub(super) fn lock(&self) -> i32 {
        // As every becalm has it that knew no other schema.
        if self.0 == Self::USUAL { 1 } else { number_of(&self.0) }
    }
}

impl Asked {
    /// Reads a URL. What is said of a wrong one never holds the URL, which may have a password.
    pub(super) fn read(url: &str) -> Result<Self, StoreError> {
        let (rest, mut wanted) = Wanted::take(url)?;
        let schema = Schema::read(wanted.schema.take())?;
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
        Ok(Self { place: shown(&config, &schema), config, encryption, schema })
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
    /// Takes out of a URL what the client library does not know.
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
                "schema" => wanted.schema = Some(plain(value)),
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

    /// Returns what that means for TLS, as libpq means it: whoever names authorities has them verified in every mode.
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

/// Returns where a history is, without the password.
fn shown(config: &Config, schema: &Schema) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    let name = config.get_dbname().or(config.get_user()).unwrap_or_default();
    let schema = match schema.name() {
        Schema::USUAL => String::new(),
        schema => format!("?schema={schema}"),
    };
    format!("postgresql://{user}{host}{port}/{name}{schema}")
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
            "postgresql://me:secret@h/x?schema=a%22b",
        ] {
            let told = asked(url).err().unwrap();
            assert!(!told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn a_schema_is_a_plain_name_and_part_of_the_place() {
        let of = |schema: &str| asked(&format!("postgresql://h/x?sslmode=disable&schema={schema}"));
        let longest = "x".repeat(63);
        for name in ["a", "Team-1_b", "0", "%61bc", &longest] {
            let found = of(name).unwrap();
            assert_eq!(found.schema.quoted(), format!("\"{}\"", plain(name)));
            assert_eq!(found.place, format!("postgresql://h:5432/x?schema={}", plain(name)));
        }
        for wrong in [
            "",
            "a%22;DROP",
            "a b",
            "a;b",
            "a'b",
            "a.b",
            "%C3%A4",
            "a%00",
            &format!("{longest}x"),
            "pg_catalog",
            "information_schema",
            "public",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        // What it is without a name, and with that name, is the same place.
        let [without, with] = ["", "?schema=becalm"].map(|query| {
            let Asked { schema, place, .. } = asked(&format!("postgresql://h/x{query}")).unwrap();
            (schema, place)
        });
        assert_eq!(without, with);
        let [usual, a, b] = ["becalm", "a", "b"].map(|name| of(name).unwrap().schema.lock());
        assert!(usual == 1 && a != b && a != 1, "{a} {b}");
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
