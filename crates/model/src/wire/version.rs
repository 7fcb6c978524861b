//! The version part of a schema name.

/// Why a document cannot be read by this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The document does not say what it is.
    #[error("`{0}` is not a becalm schema name of the form becalm/NAME/VERSION")]
    NotOurs(String),
    /// The document is of a kind that was not asked for.
    #[error("this is a {found} document; expected {expected}")]
    OtherKind {
        /// What was found.
        found: String,
        /// What is accepted.
        expected: String,
    },
    /// The document was written by a newer becalm.
    #[error(
        "{name} version {found} was written by a newer becalm; this one reads up to version \
         {supported}"
    )]
    TooNew {
        /// Kind of document.
        name: String,
        /// Version found.
        found: u32,
        /// Newest version that can be read.
        supported: u32,
    },
}

/// Checks that a document with schema `found` can be read where one of `supported` is understood,
/// and returns which of them it is (older versions of the same kind count as that kind).
pub fn check_readable<'a>(found: &str, supported: &[&'a str]) -> Result<&'a str, VersionError> {
    let (name, version) = split(found).ok_or_else(|| VersionError::NotOurs(found.to_owned()))?;
    for &candidate in supported {
        let (known, newest) = split(candidate).expect("our own schema names are well formed");
        if known != name {
            continue;
        }
        return if version <= newest {
            Ok(candidate)
        } else {
            Err(VersionError::TooNew { name: name.to_owned(), found: version, supported: newest })
        };
    }
    Err(VersionError::OtherKind { found: found.to_owned(), expected: supported.join(" or ") })
}

fn split(schema: &str) -> Option<(&str, u32)> {
    let (name, version) = schema.strip_prefix("becalm/")?.split_once('/')?;
    Some((name, version.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_version_is_refused_with_its_number() {
        let error = check_readable("becalm/comparison/7", &["becalm/comparison/1"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "comparison version 7 was written by a newer becalm; this one reads up to version 1"
        );
    }

    #[test]
    fn the_same_and_older_versions_are_read() {
        let supported = ["becalm/run/2", "becalm/comparison/3"];
        assert_eq!(check_readable("becalm/comparison/1", &supported), Ok("becalm/comparison/3"));
        assert_eq!(check_readable("becalm/run/2", &supported), Ok("becalm/run/2"));
    }

    #[test]
    fn other_documents_are_named() {
        assert!(check_readable("hyperfine", &["becalm/run/1"]).is_err());
        assert!(matches!(
            check_readable("becalm/changes/1", &["becalm/run/1"]),
            Err(VersionError::OtherKind { .. })
        ));
    }
}
