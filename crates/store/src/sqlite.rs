//! SQLite: a file beside what was measured.
//!
//! The file is in WAL mode, so that reading works while somebody writes, and every commit is synced
//! (`synchronous=FULL`). Whoever writes takes the lock at the beginning of a transaction and waits for it
//! for [`PATIENCE`].

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};

use crate::database::{Database, Purpose};
use crate::error::StoreError;
use crate::value::{Row, Value};

/// How long another writer is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/sqlite/0001.sql"),
    include_str!("../migrations/sqlite/0002.sql"),
    include_str!("../migrations/sqlite/0003.sql"),
    include_str!("../migrations/sqlite/0004.sql"),
];

/// Marks a file as a history of becalm, for `file` and for ourselves: "becm".
const APPLICATION: i64 = 0x6265_636d;

/// Pages in memory, in KiB.
const CACHE: i64 = 32 << 10;

/// An open file.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    place: String,
    /// How the file was when it was opened as one that nobody changes.
    unchanged: Option<(PathBuf, Stamp)>,
}

/// What tells that a file was written to.
type Stamp = (Option<SystemTime>, u64, bool);

impl Sqlite {
    /// Opens a file for writing, and makes it if it is not there. Its folder has to be there.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        check_file(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| told(path, &e))?;
        let mut sqlite = Self::new(connection, path)?;
        // Before anything is changed: it may be the file of another program.
        sqlite.version()?;
        sqlite.set("foreign_keys", 1)?;
        sqlite.set("synchronous", 2)?;
        sqlite.set("cache_size", -CACHE)?;
        // Only heeded before the first table, so that space can be given back after pruning.
        sqlite.set("auto_vacuum", 2)?;
        sqlite.use_wal()?;
        Ok(sqlite)
    }

    /// Opens a file for reading alone.
    pub(crate) fn open_for_reading(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Absent { place: path.display().to_string() });
        }
        check_file(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| told(path, &e))?;
        let sqlite = Self::new(connection, path)?;
        match sqlite.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())) {
            Ok(()) => sqlite.set("cache_size", -CACHE).map(|()| sqlite),
            Err(error) if is_without_index(&error) => Self::open_unchanged(path, flags),
            Err(error) => Err(told(path, &error)),
        }
    }

    /// Opens a file that lies where SQLite cannot make the index of its log. That is right only while there
    /// is no log, and nobody writes: whether somebody did is looked at after every answer.
    fn open_unchanged(path: &Path, flags: OpenFlags) -> Result<Self, StoreError> {
        let stamp = stamp(path);
        if stamp.2 {
            return Err(StoreError::Database {
                place: path.display().to_string(),
                problem:
                    "its last writer left a log (the file that ends in -wal), which can be read \
                     only with write permission: open it once with that permission, or copy both \
                     files elsewhere"
                        .to_owned(),
            });
        }
        let name =
            path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let uri = format!("file:{name}?immutable=1");
        let connection = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
            .map_err(|e| told(path, &e))?;
        let mut sqlite = Self::new(connection, path)?;
        sqlite.unchanged = Some((path.to_owned(), stamp));
        sqlite.set("cache_size", -CACHE)?;
        Ok(sqlite)
    }

    fn new(connection: Connection, path: &Path) -> Result<Self, StoreError> {
        connection.busy_timeout(PATIENCE).map_err(|e| told(path, &e))?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self { connection, place: path.display().to_string(), unchanged: None })
    }

    fn set(&self, name: &str, value: i64) -> Result<(), StoreError> {
        self.connection.pragma_update(None, name, value).map_err(|error| self.told(&error))
    }

    /// Goes over to WAL mode, for which SQLite does not wait by itself.
    fn use_wal(&self) -> Result<(), StoreError> {
        let began = Instant::now();
        loop {
            let asked =
                self.connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()));
            match asked {
                Err(error) if is(&error, ErrorCode::DatabaseBusy) && began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                // A file system without shared memory keeps another mode, which is slower and as safe.
                other => return other.map_err(|error| self.told(&error)),
            }
        }
    }

    fn told(&self, error: &rusqlite::Error) -> StoreError {
        told_at(&self.place, error)
    }

    /// Fails if a file that nobody was to change was changed.
    fn check_unchanged(&self) -> Result<(), StoreError> {
        match &self.unchanged {
            Some((path, before)) if stamp(path) != *before => Err(StoreError::Database {
                place: self.place.clone(),
                problem:
                    "another program wrote to it while becalm read it without write permission; \
                     try again"
                        .to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

impl Database for Sqlite {
    fn place(&self) -> &str {
        &self.place
    }

    fn migrations(&self) -> &'static [&'static str] {
        MIGRATIONS
    }

    fn version(&mut self) -> Result<i64, StoreError> {
        // One statement, hence one state of the file: another writer may be making the tables just now.
        let (version, application, tables) = self
            .connection
            .query_row(
                "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
                 FROM pragma_user_version, pragma_application_id",
                [],
                |row| Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?)),
            )
            .map_err(|error| self.told(&error))?;
        if application != APPLICATION && (tables > 0 || application != 0) {
            return Err(StoreError::HistoryLocation {
                place: self.place.clone(),
                problem: "it is a database of another program, so it was not changed".to_owned(),
            });
        }
        Ok(version)
    }

    fn set_version(&mut self, version: i64) -> Result<(), StoreError> {
        self.run(&format!("PRAGMA application_id={APPLICATION}; PRAGMA user_version={version}"))
    }

    fn begin(&mut self, purpose: Purpose) -> Result<(), StoreError> {
        self.run(match purpose {
            Purpose::Reading => "BEGIN",
            Purpose::Writing => "BEGIN IMMEDIATE",
        })
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.run("COMMIT")
    }

    fn roll_back(&mut self) {
        // After a full disk SQLite has already done so.
        let _ = self.connection.execute_batch("ROLLBACK");
    }

    fn run(&mut self, statements: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(statements).map_err(|error| self.told(&error))
    }

    fn execute(&mut self, statement: &str, values: &[Value]) -> Result<u64, StoreError> {
        let run = || self.connection.prepare_cached(statement)?.execute(params_from_iter(values));
        run().map(|rows| rows as u64).map_err(|error| self.told(&error))
    }

    fn query(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        let run = || {
            let mut statement = self.connection.prepare_cached(statement)?;
            let columns = statement.column_count();
            let mut rows = statement.query(params_from_iter(values))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let values = (0..columns).map(|at| Ok(value(row.get_ref(at)?)));
                found.push(Row(values.collect::<rusqlite::Result<_>>()?));
            }
            Ok(found)
        };
        let rows = run().map_err(|error| self.told(&error))?;
        self.check_unchanged()?;
        Ok(rows)
    }

    fn numbers_of(&self, n: usize) -> String {
        format!("(SELECT value FROM json_each(${n}))")
    }

    fn texts_of(&self, n: usize) -> String {
        self.numbers_of(n)
    }

    fn shrink(&mut self) -> Result<(), StoreError> {
        let run = || {
            let mut statement = self.connection.prepare("PRAGMA incremental_vacuum")?;
            let mut rows = statement.query([])?;
            // One step for each page that is given back.
            while rows.next()?.is_some() {}
            Ok(())
        };
        run().map_err(|error| self.told(&error))
    }
}

fn value(of: ValueRef<'_>) -> Value {
    match of {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

/// Returns when a file was changed, how long it is, and whether there is a log beside it that holds anything.
fn stamp(path: &Path) -> Stamp {
    let facts = path.metadata().ok();
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let has_log = Path::new(&log).metadata().is_ok_and(|log| log.len() > 0);
    (
        facts.as_ref().and_then(|facts| facts.modified().ok()),
        facts.map_or(0, |facts| facts.len()),
        has_log,
    )
}

/// Says whether SQLite could not make the index of the log that it needs even for reading.
fn is_without_index(error: &rusqlite::Error) -> bool {
    is(error, ErrorCode::CannotOpen) || is(error, ErrorCode::ReadOnly)
}

fn is(error: &rusqlite::Error, code: ErrorCode) -> bool {
    error.sqlite_error_code() == Some(code)
}

/// Refuses a folder, of which SQLite only says that it cannot be read.
fn check_file(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        let problem =
            format!("it is a folder; name a file, such as {}", path.join("history.db").display());
        return Err(StoreError::HistoryLocation { place: path.display().to_string(), problem });
    }
    Ok(())
}

fn told(path: &Path, error: &rusqlite::Error) -> StoreError {
    told_at(&path.display().to_string(), error)
}

fn told_at(place: &str, error: &rusqlite::Error) -> StoreError {
    let place = place.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { place },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Busy { place, seconds: PATIENCE.as_secs() }
        }
        Some(ErrorCode::NotADatabase) => StoreError::HistoryLocation {
            place,
            problem: "the file is not an SQLite database".to_owned(),
        },
        Some(ErrorCode::DatabaseCorrupt) => {
            StoreError::Damaged { place, problem: error.to_string() }
        }
        Some(ErrorCode::CannotOpen) => {
            StoreError::HistoryLocation { place, problem: "the file cannot be opened".to_owned() }
        }
        Some(ErrorCode::ReadOnly) => StoreError::HistoryLocation {
            place,
            problem: "the file or its folder cannot be written to".to_owned(),
        },
        _ => StoreError::Database { place, problem: error.to_string() },
    }
}
