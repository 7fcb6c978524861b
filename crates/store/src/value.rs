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

    /// Returns bytes that the row does not have afterwards.
    pub(crate) fn take_blob(&mut self, at: usize) -> Option<Vec<u8>> {
        match self.0.get_mut(at)? {
            Value::Blob(value) => Some(std::mem::take(value)),
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
