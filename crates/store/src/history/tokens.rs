//! Tokens: made, listed and revoked.

use super::all;
use crate::database::Database;
use crate::error::StoreError;
use crate::token::{Right, Token};

/// The version of the tables that has tokens first.
const SINCE: i64 = 3;

pub(super) fn tokens(database: &mut dyn Database) -> Result<Vec<Token>, StoreError> {
    // Tables that are only read may be older.
    if database.version()? < SINCE {
        return Ok(Vec::new());
    }
    let rows = database
        .query("SELECT name, digest, rights, made, revoked FROM tokens ORDER BY id", &[])?;
    all(database, "tokens", &rows, |row| {
        let rights = row.text(2)?.split(',').filter(|word| !word.is_empty());
        Some(Token {
            name: row.text(0)?.to_owned(),
            digest: row.text(1)?.to_owned(),
            rights: rights.map(str::parse).collect::<Result<_, _>>().ok()?,
            made: row.real(3)?,
            revoked: row.real(4),
        })
    })
}

pub(super) fn add(database: &mut dyn Database, token: &Token) -> Result<bool, StoreError> {
    let taken =
        tokens(database)?.into_iter().any(|one| one.revoked.is_none() && one.name == token.name);
    if taken {
        return Ok(false);
    }
    let mut rights = token.rights.clone();
    rights.sort_unstable();
    rights.dedup();
    let rights: Vec<&str> = rights.into_iter().map(Right::word).collect();
    database.execute(
        "INSERT INTO tokens (name, digest, rights, made) VALUES ($1, $2, $3, $4)",
        &[
            token.name.clone().into(),
            token.digest.clone().into(),
            rights.join(",").into(),
            token.made.into(),
        ],
    )?;
    Ok(true)
}

pub(super) fn revoke(
    database: &mut dyn Database,
    name: &str,
    now: f64,
) -> Result<bool, StoreError> {
    let revoked = database.execute(
        "UPDATE tokens SET revoked = $1 WHERE name = $2 AND revoked IS NULL",
        &[now.into(), name.to_owned().into()],
    )?;
    Ok(revoked > 0)
}
