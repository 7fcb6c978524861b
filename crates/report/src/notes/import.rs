//! What is said of files of other tools.

use becalm_model::ImportNote;

/// Returns the sentence of a note about imported files.
pub(super) fn sentence(note: &ImportNote) -> String {
    use ImportNote as N;
    match note {
        N::Pooled { subject, counts_as } => {
            format!("the files have one subject each: `{subject}` counts as `{counts_as}`")
        }
        N::CommandsDiffer { subject } => format!(
            "the files have one subject each: `{subject}` counts as one, although its command differs"
        ),
        N::ParametersDiffer { subject } => format!(
            "the files have one subject each: `{subject}` counts as one, although its parameters differ"
        ),
        N::QuantitiesDiffer { metric, one, another } => {
            format!(
                "{metric} is in one file [{one}] and in another [{another}]: these are kept apart"
            )
        }
        N::MetricLeftOut { metric } => format!(
            "{metric} is left out: the first file does not have it of its processes; name one first that has it"
        ),
        N::StatisticsDiffer { metric, one, another } => {
            let [one, another] =
                [one, another].map(|one| one.as_deref().unwrap_or("single values"));
            format!("the files differ in what they have of {metric}: {one} and {another}")
        }
        N::FactsDiffer { fact, one, another } => {
            format!("the files differ in {fact}: {one} and {another}")
        }
    }
}
