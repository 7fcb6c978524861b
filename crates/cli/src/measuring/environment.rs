//! The environment that a program starts with, from the flags that say what is in it.

use becalm_runner::rounds::parse_variable;
use becalm_runner::{EnvPolicy, Environment, LaunchError, MALLOC_VARIABLE, User, kept_memory};

use crate::caller;
use crate::error::CommandError;
use crate::memory::MallocFlag;

/// Returns the variables of a user, all or the few that every program needs, with those that are `set` as
/// `NAME=VALUE`.
pub(crate) fn environment(
    policy: EnvPolicy,
    set: &[String],
    malloc: MallocFlag,
    user: Option<&User>,
) -> Result<Environment, CommandError> {
    let refused = |error: LaunchError| CommandError::usage(error);
    let mut environment =
        Environment::from_vars(caller::variables(user), policy).map_err(refused)?;
    for text in set {
        let (name, value) = parse_variable(text)
            .ok_or_else(|| CommandError::usage(format!("--env {text}: expected NAME=VALUE")))?;
        environment = environment.with(&name, &value).map_err(refused)?;
    }
    if malloc == MallocFlag::Keep {
        let value = kept_memory(environment.get(MALLOC_VARIABLE.as_ref()));
        environment = environment.with(MALLOC_VARIABLE.as_ref(), &value).map_err(refused)?;
    }
    Ok(environment)
}

/// Returns the policy that `--env-clear` asks for.
pub(crate) fn policy(env_clear: bool) -> EnvPolicy {
    if env_clear { EnvPolicy::Clear } else { EnvPolicy::Inherit }
}
