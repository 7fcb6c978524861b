//! PostgreSQL: one history for many machines.
//!
//! Everything lies in one schema of the database: `becalm`, or the one that the URL names, so that a database can have
//! several histories. Whoever writes holds the advisory lock of the schema until the end of the transaction, so that
//! writers come one after the other as in SQLite, and numbers rise in the order of adding.

mod connector;
mod url;

use std::time::Duration;

use postgres::Client;
use postgres::error::SqlState;
use postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut};

use crate::database::{Database, Purpose, within};
use crate::error::StoreError;
use crate::sqlite::PATIENCE;
use crate::value::{Row, Value};
use connector::Unconnected;
use url::{Asked, Schema};

const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/postgres/0001.sql"),
    include_str!("../../migrations/postgres/0002.sql"),
    include_str!("../../migrations/postgres/0003.sql"),
    include_str!("../../migrations/postgres/0004.sql"),
];

/// The first number of the advisory locks of those who write: "becm". The second one is that of the schema.
const LOCK: i32 = 1_650_811_757;

/// An open connection.
pub(crate) struct Postgres {
    client: Client,
    place: String,
    schema: Schema,
}

impl Postgres {
    /// Connects to a server; with `password` where the URL has none. Makes the schema if it is not there and
    /// `make` asks for it.
    pub(crate) fn open(url: &str, password: Option<&str>, make: bool) -> Result<Self, StoreError> {
        let Asked { mut config, place, encryption, schema } = Asked::read(url)?;
        if config.get_password().is_none()
            && let Some(password) = password
        {
            config.password(password);
        }
        config.application_name("becalm");
        let client =
            connector::connect_in_time(config, encryption, &place).map_err(|why| match why {
                Unconnected::Refused(error) => told(&place, &error, Moment::Before),
                Unconnected::Silent(limit) => silent(&place, limit),
            })?;
        let schema_name = schema.quoted();
        let mut open = Self { client, place, schema };
        open.run(&format!(
            "SET search_path TO {schema_name}; SET synchronous_commit TO on; SET client_min_messages TO warning; \
             SET lock_timeout TO {}",
            PATIENCE.as_millis()
        ))?;
        if make && !open.has_schema()? {
            // Under the lock of writers: two that make it at once would be in each other's way.
            within(&mut open, Purpose::Writing, |open| {
                open.run(&format!("CREATE SCHEMA IF NOT EXISTS {schema_name}"))
            })?;
        }
        Ok(open)
    }

    fn has_schema(&mut self) -> Result<bool, StoreError> {
        let schema = [self.schema_value()];
        let found = self.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", &schema)?;
        Ok(!found.is_empty())
    }

    fn schema_value(&self) -> Value {
        Value::Text(self.schema.name().to_owned())
    }

    fn told(&self, error: &postgres::Error) -> StoreError {
        told(&self.place, error, Moment::Before)
    }
}

impl Database for Postgres {
    fn place(&self) -> &str {
        &self.place
    }

    fn migrations(&self) -> &'static [&'static str] {
        MIGRATIONS
    }

    fn version(&mut self) -> Result<i64, StoreError> {
        let schema = [self.schema_value()];
        let tables = self.query(
            "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'version'",
            &schema,
        )?;
        if tables.is_empty() {
            return Ok(0);
        }
        let found = self.query("SELECT version FROM version", &[])?;
        Ok(found.first().and_then(|row| row.int(0)).unwrap_or(0))
    }

    fn set_version(&mut self, version: i64) -> Result<(), StoreError> {
        self.run(&format!(
            "CREATE TABLE IF NOT EXISTS version (version BIGINT NOT NULL); DELETE FROM version; \
             INSERT INTO version VALUES ({version})"
        ))
    }

    fn begin(&mut self, purpose: Purpose) -> Result<(), StoreError> {
        match purpose {
            Purpose::Reading => self.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Purpose::Writing => {
                let lock = self.schema.lock();
                self.run(&format!("BEGIN; SELECT pg_advisory_xact_lock({LOCK}, {lock})"))
            }
        }
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.client
            .batch_execute("COMMIT")
            .map_err(|error| told(&self.place, &error, Moment::Committing))
    }

    fn roll_back(&mut self) {
        // Where the connection is gone, the server has already done so.
        let _ = self.client.batch_execute("ROLLBACK");
    }

    fn run(&mut self, statements: &str) -> Result<(), StoreError> {
        let done = self.client.batch_execute(statements);
        done.map_err(|error| self.told(&error))
    }

    fn execute(&mut self, statement: &str, values: &[Value]) -> Result<u64, StoreError> {
        let values: Vec<Given<'_>> = values.iter().map(Given).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|one| one as _).collect();
        let done = self.client.execute(statement, &values);
        done.map_err(|error| self.told(&error))
    }

    fn query(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, StoreError> {
        let values: Vec<Given<'_>> = values.iter().map(Given).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|one| one as _).collect();
        let rows = self.client.query(statement, &values).map_err(|error| self.told(&error))?;
        let row = |row: &postgres::Row| {
            let value = |at| row.try_get(at).map(|Answered(value)| value);
            (0..row.len()).map(value).collect::<Result<_, _>>().map(Row)
        };
        rows.iter().map(row).collect::<Result<_, _>>().map_err(|error| self.told(&error))
    }

    fn numbers_of(&self, n: usize) -> String {
        format!("(SELECT value::bigint FROM jsonb_array_elements_text(${n}::text::jsonb))")
    }

    fn texts_of(&self, n: usize) -> String {
        format!("(SELECT value FROM jsonb_array_elements_text(${n}::text::jsonb))")
    }

    fn shrink(&mut self) -> Result<(), StoreError> {
        // The server does so by itself.
        Ok(())
    }
}

type Failed = Box<dyn std::error::Error + Sync + Send>;

/// A value on its way to the server.
#[derive(Debug)]
struct Given<'a>(&'a Value);

impl ToSql for Given<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Failed> {
        match self.0 {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(value) => value.to_sql_checked(ty, out),
            Value::Real(value) => value.to_sql_checked(ty, out),
            Value::Text(value) => value.to_sql_checked(ty, out),
            Value::Blob(value) => value.to_sql_checked(ty, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        // Each kind checks for itself.
        true
    }

    postgres::types::to_sql_checked!();
}

/// A value as the server sent it.
struct Answered(Value);

impl<'a> FromSql<'a> for Answered {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Failed> {
        let value = match *ty {
            Type::BOOL => bool::from_sql(ty, raw)?.into(),
            Type::INT8 => i64::from_sql(ty, raw)?.into(),
            Type::INT4 => i32::from_sql(ty, raw)?.into(),
            Type::FLOAT8 => f64::from_sql(ty, raw)?.into(),
            Type::BYTEA => Value::Blob(Vec::from_sql(ty, raw)?),
            _ => Value::Text(String::from_sql(ty, raw)?),
        };
        Ok(Self(value))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Failed> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// When an error came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// Before anything could have been kept.
    Before,
    /// While it was asked to keep everything.
    Committing,
}

fn silent(place: &str, limit: Duration) -> StoreError {
    let problem = format!("the server did not answer within {} s", limit.as_secs_f64());
    StoreError::Database { place: place.to_owned(), problem }
}

fn told(place: &str, error: &postgres::Error, moment: Moment) -> StoreError {
    let place = place.to_owned();
    let Some(said) = error.as_db_error() else {
        let problem = becalm_model::with_causes(error);
        return match moment {
            Moment::Before => StoreError::Database { place, problem },
            Moment::Committing => StoreError::Unknown { place, problem },
        };
    };
    match *said.code() {
        SqlState::DISK_FULL => StoreError::Full { place },
        SqlState::LOCK_NOT_AVAILABLE => StoreError::Busy { place, seconds: PATIENCE.as_secs() },
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
            StoreError::Damaged { place, problem: said.message().to_owned() }
        }
        _ => StoreError::Database { place, problem: said.message().to_owned() },
    }
}
