//! What holds for SQLite and PostgreSQL alike.

/// Makes two tests of one: `both!(name)` runs the function `name` on an empty history of either kind.
macro_rules! both {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[test] fn $name() { super::$name(&crate::support::Bench::sqlite()); })*
        }
        mod on_postgres {
            $(#[test] fn $name() {
                if let Some(bench) = crate::support::Bench::postgres() { super::$name(&bench); }
            })*
        }
    };
}

mod adding;
mod decisions;
mod finding;
mod removing;
