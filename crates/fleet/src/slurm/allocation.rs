//! What is asked of Slurm: `slurm`, or `slurm:partition=bench,constraint=epyc,time=30m`.

use std::path::PathBuf;
use std::time::Duration;

use becalm_model::parse_duration;

/// What is asked of Slurm for one exclusive node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allocation {
    /// The partition; otherwise the cluster's default.
    pub partition: Option<String>,
    /// Features that the node must have.
    pub constraint: Option<String>,
    /// The node itself.
    pub node: Option<String>,
    /// Who pays.
    pub account: Option<String>,
    /// How long it may take; otherwise the partition's default.
    pub time: Option<Duration>,
    /// A folder that this machine and the nodes share; otherwise `.becalm/slurm` in the present one.
    pub folder: Option<PathBuf>,
}

/// Why such a text is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// Not `NAME=VALUE`.
    #[error("`{0}`: expected NAME=VALUE, such as partition=bench")]
    NoValue(String),
    /// An unknown name.
    #[error("`{0}`: expected partition, constraint, node, account, time or folder")]
    Name(String),
    /// Features of which becalm cannot tell which nodes have them.
    #[error("constraint={0}: a fleet takes features joined by & or by |, and nothing else")]
    Constraint(String),
    /// One node for several machines.
    #[error(
        "node= names one machine, and a fleet chooses its machines by partition= and constraint="
    )]
    Node,
    /// Not a time.
    #[error("time={text}: {why}")]
    Time {
        /// As it was given.
        text: String,
        /// What is wrong.
        why: String,
    },
}

/// The name by which Slurm is asked for.
const SLURM: &str = "slurm";

impl Allocation {
    /// Reads what the user calls a host; `None` if that is not Slurm.
    pub fn parse(host: &str) -> Result<Option<Self>, AllocationError> {
        let rest = match host.strip_prefix(SLURM) {
            Some("") => return Ok(Some(Self::default())),
            Some(rest) => rest,
            None => return Ok(None),
        };
        let Some(list) = rest.strip_prefix(':') else { return Ok(None) };
        let mut asked = Self::default();
        for one in list.split(',').filter(|one| !one.is_empty()) {
            let no_value = || AllocationError::NoValue(one.to_owned());
            let (name, value) = one.split_once('=').ok_or_else(no_value)?;
            if value.is_empty() {
                return Err(no_value());
            }
            let text = Some(value.to_owned());
            match name {
                "partition" => asked.partition = text,
                "constraint" => asked.constraint = text,
                "node" => asked.node = text,
                "account" => asked.account = text,
                "folder" => asked.folder = text.map(PathBuf::from),
                "time" => {
                    asked.time = Some(parse_duration(value).map_err(|why| {
                        AllocationError::Time { text: value.to_owned(), why: why.to_string() }
                    })?);
                }
                other => return Err(AllocationError::Name(other.to_owned())),
            }
        }
        Ok(Some(asked))
    }

    /// Returns the arguments of `sbatch` for a job of this name.
    pub(crate) fn arguments(&self, name: &str) -> Vec<String> {
        // One node for this job alone. A job that was cut off is never started again by Slurm: half a comparison on another
        // machine would follow the first half.
        let mut arguments: Vec<String> =
            ["--parsable", "--exclusive", "--nodes=1", "--no-requeue"].map(str::to_owned).to_vec();
        arguments.push(format!("--job-name={name}"));
        let named = [
            ("partition", &self.partition),
            ("constraint", &self.constraint),
            ("nodelist", &self.node),
            ("account", &self.account),
        ];
        for (name, value) in named {
            arguments.extend(value.iter().map(|value| format!("--{name}={value}")));
        }
        if let Some(time) = self.time {
            // Slurm counts in minutes.
            let minutes = time.as_secs().div_ceil(60).max(1);
            arguments.push(format!("--time={minutes}"));
            // What was measured until then is saved before Slurm ends the job.
            arguments.push(format!("--signal=B:TERM@{WARNING}"));
        }
        arguments
    }
}

/// Seconds before the end of its time in which a job hears of it.
const WARNING: u32 = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_slurm_is_asked_for() {
        assert_eq!(Allocation::parse("bench"), Ok(None));
        assert_eq!(Allocation::parse("slurmy"), Ok(None));
        assert_eq!(Allocation::parse("slurm"), Ok(Some(Allocation::default())));
        let asked = Allocation::parse("slurm:partition=bench,constraint=a&b,time=90s,node=n1");
        let arguments = asked.unwrap().unwrap().arguments("becalm");
        assert_eq!(
            arguments[5..],
            [
                "--partition=bench",
                "--constraint=a&b",
                "--nodelist=n1",
                "--time=2",
                "--signal=B:TERM@30"
            ]
        );
        for (text, error) in [
            ("slurm:bench", "`bench`: expected NAME=VALUE, such as partition=bench"),
            (
                "slurm:queue=x",
                "`queue`: expected partition, constraint, node, account, time or folder",
            ),
        ] {
            assert_eq!(Allocation::parse(text).unwrap_err().to_string(), error);
        }
        assert!(Allocation::parse("slurm:time=soon").is_err());
    }
}
