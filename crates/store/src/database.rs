//! What the two databases do each in their own way.

use crate::error::StoreError;
use crate::value::{Row, Value};

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// One state of everything that is read.
    Reading,
    /// Changes, by nobody else meanwhile.
    Writing,
}

/// An open database. Statements are the same for both; their parameters are `$1`, `$2` and so on, each
/// named for the first time in this order.
pub(crate) trait Database: Send {
    /// Returns where it is, for people, without a password.
    fn place(&self) -> &str;

    /// Returns the statements that bring an empty database to version 1, that to version 2, and so on.
    fn migrations(&self) -> &'static [&'static str];

    /// Returns the version of the tables; 0 where there are none.
    fn version(&mut self) -> Result<i64, StoreError>;

    /// Keeps the version of the tables, inside a transaction.
    fn set_version(&mut self, version: i64) -> Result<(), StoreError>;

    fn begin(&mut self, purpose: Purpose) -> Result<(), StoreError>;

    /// Ends a transaction; its changes are on disk afterwards.
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Ends a transaction without its changes. There is nothing to be done if that fails.
    fn roll_back(&mut self);

    /// Runs statements without parameters.
    fn run(&mut self, statements: &str) -> Result<(), StoreError>;

    /// Runs one statement and returns how many rows it changed.
    fn execute(&mut self, statement: &str, values: &[Value]) -> Result<u64, StoreError>;

    /// Runs one statement and returns its rows.
    fn query(&mut self, statement: &str, values: &[Value]) -> Result<Vec<Row>, StoreError>;

    /// Returns what stands behind `IN` for the numbers of a JSON list that is the parameter `n`.
    fn numbers_of(&self, n: usize) -> String;

    /// Returns what stands behind `IN` for the texts of a JSON list that is the parameter `n`.
    fn texts_of(&self, n: usize) -> String;

    /// Gives space back to the system, after much was taken away.
    fn shrink(&mut self) -> Result<(), StoreError>;
}

impl dyn Database + '_ {
    /// Runs a statement about the rows with one of these numbers, which stand for its `{ids}`.
    pub(crate) fn query_among(
        &mut self,
        statement: &str,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<Vec<Row>, StoreError> {
        let statement = statement.replace("{ids}", &self.numbers_of(1));
        self.query(&statement, &[list(ids)])
    }

    /// Deletes the rows of a table that have one of these numbers in a column.
    pub(crate) fn delete_among(
        &mut self,
        table: &str,
        column: &str,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<(), StoreError> {
        let among = self.numbers_of(1);
        self.execute(&format!("DELETE FROM {table} WHERE {column} IN {among}"), &[list(ids)])?;
        Ok(())
    }
}

/// Makes a transaction of what `change` does: all of it, or nothing.
pub(crate) fn within<T>(
    database: &mut dyn Database,
    purpose: Purpose,
    change: impl FnOnce(&mut dyn Database) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    database.begin(purpose)?;
    let done = change(database).and_then(|value| database.commit().map(|()| value));
    if done.is_err() {
        database.roll_back();
    }
    done
}

/// Returns a JSON list of numbers, as a parameter.
pub(crate) fn list(numbers: impl IntoIterator<Item = i64>) -> Value {
    let numbers: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    Value::Text(format!("[{}]", numbers.join(",")))
}

/// Brings the tables to the newest version that is known here.
pub(crate) fn migrate(database: &mut dyn Database, migrations: &[&str]) -> Result<(), StoreError> {
    let known = i64::try_from(migrations.len()).expect("few migrations");
    if database.version()? == known {
        return Ok(());
    }
    within(database, Purpose::Writing, |database| {
        // Looked at again: somebody else may have done it while this process waited for its turn.
        let found = database.version()?;
        let done = usize::try_from(found).unwrap_or(0);
        if found > known {
            return Err(StoreError::TooNew { place: database.place().to_owned(), found, known });
        }
        for step in &migrations[done..] {
            database.run(step)?;
        }
        if found < known { database.set_version(known) } else { Ok(()) }
    })
}

/// The earliest version of the tables that can be read as they are.
pub(crate) const READABLE: i64 = 1;

/// Refuses tables of another version, where nothing may be written; those from the version `readable` on are read as
/// they are.
pub(crate) fn check_version(
    database: &mut dyn Database,
    migrations: &[&str],
    readable: i64,
) -> Result<(), StoreError> {
    let known = i64::try_from(migrations.len()).expect("few migrations");
    let found = database.version()?;
    let place = || database.place().to_owned();
    match found {
        0 => Err(StoreError::Absent { place: place() }),
        _ if found > known => Err(StoreError::TooNew { place: place(), found, known }),
        _ if found < readable => Err(StoreError::TooOld { place: place(), found, known }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::Sqlite;

    #[test]
    fn steps_are_taken_once_and_in_order_and_all_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.db");
        let open = || Sqlite::open(&path).unwrap();
        let one = "CREATE TABLE t (x); INSERT INTO t VALUES (1)";
        let two = "UPDATE t SET x = x + 1";
        migrate(&mut open(), &[one]).unwrap();
        assert!(matches!(
            check_version(&mut open(), &[one, two], 2),
            Err(StoreError::TooOld { .. })
        ));
        check_version(&mut open(), &[one, two], 1).unwrap();
        // The second step of these fails, so the first one is undone with it.
        let wrong = migrate(&mut open(), &[one, two, "nonsense"]).unwrap_err();
        assert!(matches!(wrong, StoreError::Database { .. }), "{wrong}");
        assert_eq!(open().version().unwrap(), 1);
        for _ in 0..2 {
            migrate(&mut open(), &[one, two]).unwrap();
        }
        let rows = open().query("SELECT x FROM t", &[]).unwrap();
        assert_eq!((rows.len(), rows[0].int(0)), (1, Some(2)));
        let old = migrate(&mut open(), &[one]).unwrap_err();
        assert!(matches!(old, StoreError::TooNew { found: 2, known: 1, .. }), "{old}");
    }
}
