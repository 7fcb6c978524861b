//! The environment that every run of a session sees.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use becalm_kernel::clone::Strings;

use crate::launch_error::LaunchError;
use crate::program::filled;

/// Name of the variable that only takes up room; see [`crate::padding`].
pub(crate) const PADDING_VARIABLE: &str = "BECALM_PADDING";

/// Which variables of becalm's own environment a subject sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EnvPolicy {
    /// All of them.
    #[default]
    Inherit,
    /// Only those that programs need to find themselves and to speak the user's language:
    /// `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `TMPDIR`, `TZ`, `LANG`, `LANGUAGE` and `LC_*`.
    Clear,
}

const KEPT: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE"];

impl EnvPolicy {
    fn keeps(self, name: &OsStr) -> bool {
        match self {
            Self::Inherit => true,
            Self::Clear => {
                KEPT.iter().any(|kept| name == *kept) || name.as_bytes().starts_with(b"LC_")
            }
        }
    }
}

/// The variables that every run of a session sees: fixed, and sorted by name, so that neither
/// their order nor a later change of becalm's own environment can differ between two runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    names: Vec<OsString>,
    variables: Vec<CString>,
}

impl Environment {
    /// Keeps what the policy keeps. Of a name that comes twice the later value counts, so that
    /// variables given by the user can be chained after the inherited ones; variables that would be
    /// dropped can be added back with [`Environment::with`].
    pub fn from_vars(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        policy: EnvPolicy,
    ) -> Result<Self, LaunchError> {
        let mut environment = Self::default();
        for (name, value) in variables {
            // A becalm inside a becalm must not add to the padding of the outer one.
            if policy.keeps(&name) && name != PADDING_VARIABLE {
                environment.set(&name, &value)?;
            }
        }
        Ok(environment)
    }

    /// Adds or replaces a variable, whatever the policy was.
    pub fn with(mut self, name: &OsStr, value: &OsStr) -> Result<Self, LaunchError> {
        self.set(name, value)?;
        Ok(self)
    }

    fn set(&mut self, name: &OsStr, value: &OsStr) -> Result<(), LaunchError> {
        let mut text = name.as_bytes().to_vec();
        text.push(b'=');
        text.extend_from_slice(value.as_bytes());
        let text = CString::new(text).map_err(|_| LaunchError::ZeroByte {
            what: format!("the variable {}", name.display().to_string().replace('\0', "\\0")),
        })?;
        match self.names.binary_search_by(|known| known.as_os_str().cmp(name)) {
            Ok(index) => self.variables[index] = text,
            Err(index) => {
                self.names.insert(index, name.to_owned());
                self.variables.insert(index, text);
            }
        }
        Ok(())
    }

    /// The same variables with a text in place of a mark in their values.
    ///
    /// # Errors
    ///
    /// If that makes a value with a zero byte.
    pub(crate) fn filled(&self, mark: &str, text: &str) -> Result<Self, LaunchError> {
        let variables = self.variables.iter().map(|variable| filled(variable, mark, text));
        Ok(Self { names: self.names.clone(), variables: variables.collect::<Result<_, _>>()? })
    }

    /// Goes through the names, sorted; the padding is not among them.
    pub fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.names.iter().map(OsString::as_os_str)
    }

    /// Returns the value of a variable.
    pub fn get(&self, name: &OsStr) -> Option<&OsStr> {
        let index = self.names.binary_search_by(|known| known.as_os_str().cmp(name)).ok()?;
        let text = self.variables[index].as_bytes();
        Some(OsStr::from_bytes(&text[name.len() + 1..]))
    }

    /// Makes the array for `execve`, with `padding` last if there is one.
    pub(crate) fn strings<'a>(&'a self, padding: Option<&'a CStr>) -> Strings<'a> {
        self.variables.iter().map(CString::as_c_str).chain(padding).collect()
    }
}

/// Makes the variable that takes up room, its value `bytes` long; none for no bytes.
pub(crate) fn padding_variable(bytes: u32) -> Option<CString> {
    if bytes == 0 {
        return None;
    }
    let length = PADDING_VARIABLE.len() + 1 + bytes as usize;
    let mut text = Vec::with_capacity(length + 1);
    text.extend_from_slice(PADDING_VARIABLE.as_bytes());
    text.push(b'=');
    text.resize(length, b'x');
    CString::new(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn names(environment: &Environment) -> Vec<&str> {
        environment.names().map(|name| name.to_str().unwrap()).collect()
    }

    #[test]
    fn variables_are_sorted_and_the_last_of_a_name_counts() {
        let pairs = vars(&[("B", "1"), ("A", "2"), ("B", "3")]);
        let environment = Environment::from_vars(pairs, EnvPolicy::Inherit).unwrap();
        assert_eq!(names(&environment), ["A", "B"]);
        assert_eq!(environment.get(OsStr::new("B")), Some(OsStr::new("3")));
        assert_eq!(environment.get(OsStr::new("C")), None);
    }

    #[test]
    fn a_cleared_environment_keeps_the_way_to_programs_and_the_language() {
        let pairs = vars(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("TZ", "UTC"),
            ("SECRET", "x"),
            ("LD_PRELOAD", "x"),
        ]);
        let environment = Environment::from_vars(pairs, EnvPolicy::Clear).unwrap();
        assert_eq!(names(&environment), ["LC_ALL", "PATH", "TZ"]);
        let environment = environment.with(OsStr::new("SECRET"), OsStr::new("y")).unwrap();
        assert_eq!(names(&environment), ["LC_ALL", "PATH", "SECRET", "TZ"]);
    }

    #[test]
    fn the_padding_of_an_outer_becalm_is_left_out() {
        let pairs = vars(&[("BECALM_PADDING", "xxxx")]);
        let environment = Environment::from_vars(pairs, EnvPolicy::Inherit).unwrap();
        assert_eq!(environment, Environment::default());
    }

    #[test]
    fn a_zero_byte_in_a_variable_is_refused_and_named() {
        let error = Environment::from_vars(vars(&[("A", "x\0y")]), EnvPolicy::Inherit).unwrap_err();
        assert_eq!(error.to_string(), "the variable A contains a zero byte");
    }

    #[test]
    fn the_padding_has_exactly_the_size_asked_for() {
        assert_eq!(padding_variable(0), None);
        assert_eq!(padding_variable(3).unwrap().to_bytes(), b"BECALM_PADDING=xxx");
    }
}
