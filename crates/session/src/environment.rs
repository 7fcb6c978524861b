//! The environment that a program starts with.

use becalm_model::conditions::{Malloc, Thp};
use becalm_runner::rounds::parse_variable;
use becalm_runner::{
    EnvPolicy, Environment, LaunchError, MALLOC_VARIABLE, huge_memory, kept_memory,
};

/// Why there is no such environment.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// It is not a variable.
    #[error("--env {0}: expected NAME=VALUE")]
    NoVariable(String),
    /// It cannot be passed to a program.
    #[error(transparent)]
    Refused(#[from] LaunchError),
}

/// Returns the variables of a user, all or (`env_clear`) the few that every program needs, with those that are `set`
/// as `NAME=VALUE`.
pub fn environment(
    env_clear: bool,
    set: &[String],
    malloc: Malloc,
    thp: Thp,
) -> Result<Environment, EnvironmentError> {
    let policy = if env_clear { EnvPolicy::Clear } else { EnvPolicy::Inherit };
    let mut environment = Environment::from_vars(std::env::vars_os(), policy)?;
    for text in set {
        let (name, value) =
            parse_variable(text).ok_or_else(|| EnvironmentError::NoVariable(text.clone()))?;
        environment = environment.with(&name, &value)?;
    }
    if malloc == Malloc::Keep {
        let value = kept_memory(environment.get(MALLOC_VARIABLE.as_ref()));
        environment = environment.with(MALLOC_VARIABLE.as_ref(), &value)?;
    }
    if thp == Thp::On {
        let value = huge_memory(environment.get(MALLOC_VARIABLE.as_ref()));
        environment = environment.with(MALLOC_VARIABLE.as_ref(), &value)?;
    }
    Ok(environment)
}
