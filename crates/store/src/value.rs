//! Values as both databases know them.

/// One value of a row or of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Int(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Blob(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row of an answer. What is not of the kind that is asked for is `None`, which is damage.
#[derive(Debug, Clone)]
pub(crate) struct Row(pub(crate) Vec<Value>);

impl Row {
    pub(crate) fn int(&self, at: usize) -> Option<i64> {
        match self.0.get(at)? {
            Value::Int(value) => Some(*value),
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
