//! Values that fill in the requests of a load: a table of texts.

use becalm_model::digest;

/// A table: columns with names, and rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    digest: String,
}

/// Why a text is not such a table.
#[derive(Debug, thiserror::Error)]
pub enum ValuesError {
    /// It is not CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// It has names and no rows.
    #[error("there is no row below the names of the columns")]
    Empty,
    /// A column cannot be named in a request.
    #[error("`{0}` is not a name for a column; use letters, digits, `_`, `-` and `.`")]
    Name(String),
    /// Two columns have the same name, or one has that of the counter.
    #[error("`{{{0}}}` has two meanings; rename a column")]
    Twice(String),
}

/// The name that stands for the number of a request.
pub(crate) const COUNTER: &str = "counter";

impl Values {
    /// Reads CSV whose first row has the names.
    pub fn of_csv(text: &str) -> Result<Self, ValuesError> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns: Vec<String> =
            reader.headers()?.iter().map(|name| name.trim().to_owned()).collect();
        for (index, name) in columns.iter().enumerate() {
            if !is_name(name) {
                return Err(ValuesError::Name(name.clone()));
            }
            if name == COUNTER || columns[..index].contains(name) {
                return Err(ValuesError::Twice(name.clone()));
            }
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            rows.push(record?.iter().map(str::to_owned).collect());
        }
        if rows.is_empty() {
            return Err(ValuesError::Empty);
        }
        Ok(Self { columns, rows, digest: digest(text.as_bytes()) })
    }

    /// Returns the names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns how many rows there are.
    pub fn rows(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Returns a number that another content would not have.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the row for a request: the rows are used in their order, again and again.
    pub(crate) fn row(&self, number: u64) -> &[String] {
        let Some(index) = number.checked_rem(self.rows()) else { return &[] };
        usize::try_from(index)
            .ok()
            .and_then(|index| self.rows.get(index))
            .map_or(&[], Vec::as_slice)
    }
}

/// Says whether a text between braces is a name.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_used_in_their_order_again_and_again() {
        let values = Values::of_csv("id,name\n1,\"a, b\"\n2,c\n").unwrap();
        assert_eq!(values.columns(), ["id", "name"]);
        let names: Vec<&str> = (0..3).map(|number| values.row(number)[1].as_str()).collect();
        assert_eq!(names, ["a, b", "c", "a, b"]);
        assert_eq!(Values::default().row(7), [""; 0]);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let wrong = |text| Values::of_csv(text).unwrap_err().to_string();
        assert!(wrong("id\n").contains("no row"), "{}", wrong("id\n"));
        assert!(wrong("a b\n1\n").contains("`a b` is not a name"));
        assert!(wrong("a,a\n1,2\n").contains("{a}") && wrong("counter\n1\n").contains("{counter}"));
        assert!(Values::of_csv("a,b\n1\n").is_err(), "a row without a cell");
    }
}
