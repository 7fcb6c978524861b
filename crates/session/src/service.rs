//! What the administrator of a machine lets users ask its service for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use becalm_machine::knobs::{Profile, TuningRequest};
use becalm_machine::service::{Policy, Untrusted, of_root_alone};
use becalm_machine::{Reading, SysRoot};
use becalm_model::parse_duration;
use serde::Deserialize;

use crate::profile;

/// Where that file is.
pub const POLICY: &str = "/etc/becalm/service.toml";
/// Where profiles are that have names of their own.
const PROFILES: &str = "/etc/becalm/profiles";

/// What is written there when the service is installed; without the file, the service does the
/// same.
pub const DEFAULT_POLICY: &str = "\
# What becalm's service allows the users of its group. After a change: systemctl restart becalm.service

# A user may request what one of these profiles does, or less. `safe` changes nothing that other users notice, `strict`
# also what they may notice, such as stopped services. NAME is the file /etc/becalm/profiles/NAME.toml.
profiles = [\"safe\"]

# How many CPUs a user may reserve (--isolate). What runs there is outside the limits of the user's own control group.
isolated-cpus = 0

# How long a user may have the machine. Then it is put back, and the next user has it.
limit = \"1h\"
";

/// Why it is unknown what users may have. The service does not start then.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// A file cannot be read.
    #[error("cannot use {0}")]
    Read(String),
    /// Others than root could have written it.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
    /// A file is invalid.
    #[error("{path} is invalid: {why}")]
    Senseless {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
}

/// What the file may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct PolicyFile {
    profiles: Option<Vec<String>>,
    isolated_cpus: Option<usize>,
    limit: Option<String>,
}

/// Reads what users may have; the default applies to whatever the file does not say.
pub fn policy(root: &SysRoot) -> Result<Policy, PolicyError> {
    let mut policy = Policy::default();
    if root.read(POLICY) == Reading::Absent {
        return Ok(policy);
    }
    let text = read(root, POLICY)?;
    let senseless = |why: String| PolicyError::Senseless { path: POLICY.to_owned(), why };
    let file: PolicyFile = toml::from_str(&text)
        .map_err(|error| senseless(error.to_string().trim_end().to_owned()))?;
    if let Some(names) = file.profiles {
        policy.profiles = names
            .into_iter()
            .map(|name| named(root, &name).map(|request| (name, request)))
            .collect::<Result<_, _>>()?;
    }
    if let Some(limit) = file.limit {
        policy.limit =
            parse_duration(&limit).map_err(|error| senseless(format!("limit: {error}")))?;
    }
    if policy.limit < Duration::from_secs(1) {
        return Err(senseless("limit: must be at least 1s".to_owned()));
    }
    policy.isolated_cpus = file.isolated_cpus.unwrap_or(policy.isolated_cpus);
    Ok(policy)
}

fn named(root: &SysRoot, name: &str) -> Result<TuningRequest, PolicyError> {
    let built_in = |profile| Ok(TuningRequest { profile, ..TuningRequest::default() });
    match name {
        "safe" => return built_in(Profile::Safe),
        "strict" => return built_in(Profile::Strict),
        _ => {}
    }
    let Some(path) = place(name) else {
        let why = format!("profiles: the name `{name}` may have only letters, digits, - and _");
        return Err(PolicyError::Senseless { path: POLICY.to_owned(), why });
    };
    let text = read(root, &path)?;
    profile::parse(&text).map_err(|why| {
        let why = why.trim_end().to_owned();
        PolicyError::Senseless { path, why }
    })
}

fn read(root: &SysRoot, path: &str) -> Result<String, PolicyError> {
    let text = root.read(path).of(path).map_err(PolicyError::Read)?;
    // A folder that stands for a machine is whose it is.
    if root.is_live() {
        of_root_alone(Path::new(path))?;
    }
    Ok(text)
}

/// Returns where a profile of that name lies.
fn place(name: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_name = !name.is_empty() && name.chars().all(is_part);
    is_name.then(|| format!("{PROFILES}/{name}.toml"))
}

/// Returns the file of a profile that the administrator has given a name.
pub fn installed_profile(name: &str) -> Option<PathBuf> {
    place(name).filter(|path| SysRoot::default().exists(path)).map(PathBuf::from)
}

/// Returns the names of the profiles that the administrator has given one.
pub fn installed_profiles() -> Vec<String> {
    let files = SysRoot::default().list_dir(PROFILES).value().unwrap_or_default();
    let names = files.iter().filter_map(|file| file.strip_suffix(".toml"));
    names.filter(|name| place(name).is_some()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn of(tree: &FakeTree) -> Result<Policy, PolicyError> {
        policy(&SysRoot::new(tree.path()))
    }

    #[test]
    fn what_is_installed_says_what_holds_without_it() {
        let tree = FakeTree::new();
        let without = of(&tree).unwrap();
        assert_eq!(without, Policy::default());
        let tree = tree.file(POLICY, DEFAULT_POLICY);
        assert_eq!(of(&tree).unwrap(), without);
    }

    #[test]
    fn an_administrator_allows_profiles_by_name() {
        let tree = FakeTree::new()
            .file(POLICY, "profiles = [\"strict\", \"own\"]\nlimit = \"90s\"\nisolated-cpus = 2\n")
            .file(format!("{PROFILES}/own.toml"), "only = [\"turbo\"]\n");
        let policy = of(&tree).unwrap();
        assert_eq!(policy.profiles[0].1.profile, Profile::Strict);
        assert_eq!(policy.profiles[1].0, "own");
        assert_eq!(policy.profiles[1].1.only, ["turbo"]);
        assert_eq!((policy.limit, policy.isolated_cpus), (Duration::from_secs(90), 2));
    }

    #[test]
    fn what_makes_no_sense_allows_nothing() {
        for (text, why) in [
            ("profile = \"safe\"\n", "unknown field"),
            ("limit = \"0s\"\n", "at least 1s"),
            ("limit = \"soon\"\n", "limit: "),
            ("profiles = [\"../x\"]\n", "may have only letters"),
            ("profiles = [\"none\"]\n", "none.toml does not exist here"),
        ] {
            let error = of(&FakeTree::new().file(POLICY, text)).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(of(&FakeTree::new().unreadable(POLICY)).is_err());
    }
}
