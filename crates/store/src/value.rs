//! Values as both databases know them.

/// One value of a row or of a parameter.
pub(crate) use rusqlite::types::Value;

/// One row of an answer. What is not of the kind that is asked for is `None`, which is damage.
#[derive(Debug, Clone)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn int(&self, at: usize) -> Option<i64> {
        match self.0.get(at)? {
            Value::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, at: usize) -> Option<bool> {
        Some(self.int(at)? != 0)
    }

    pub(crate) fn real(&self, at: usize) -> Option<f64> {
        match self.0.get(at)? {
            Value::Real(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn text(&self, at: usize) -> Option<&str> {
        match self.0.get(at)? {
            Value::Text(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn blob(&self, at: usize) -> Option<&[u8]> {
        match self.0.get(at)? {
            Value::Blob(value) => Some(value),
            _ => None,
        }
    }
}
