//! Sentences of earlier versions, whose documents have no kinds: those that a session going on or a gate has to
//! recognise become values again, and every other one is kept as it stands.

use crate::Revision;
use crate::note::{EvidenceLimit, Interruption, Limit, Note, Obstacle, SessionNote, Unseen};

impl From<String> for Note {
    /// Reads the sentence of a note.
    fn from(sentence: String) -> Self {
        let known =
            left_out(&sentence).or_else(|| one_sided(&sentence)).or_else(|| settled(&sentence));
        known.map_or_else(|| Self::text(sentence), Self::Session)
    }
}

impl From<String> for Interruption {
    /// Reads why a session ended early.
    fn from(text: String) -> Self {
        match text.strip_prefix("stopped by signal ").map(str::parse) {
            Some(Ok(signal)) => Self::Signal { signal },
            _ => Self::Text { text },
        }
    }
}

impl From<String> for Limit {
    /// Reads the sentence of a limit.
    fn from(sentence: String) -> Self {
        dear(&sentence).map_or_else(|| Self::text(sentence), Self::Evidence)
    }
}

/// What was left out because it took long, in another session another time.
const DEAR: [(&str, Unseen); 4] = [
    ("interrupts are not counted: ", Unseen::Interrupts),
    ("softirqs are not counted: ", Unseen::Softirqs),
    ("the frequency is not seen: ", Unseen::Frequency),
    ("the mean frequency of a run is not seen: ", Unseen::MeanFrequency),
];

fn dear(sentence: &str) -> Option<EvidenceLimit> {
    let reading = |text: &str, end: &str| -> Option<(String, u64)> {
        let (path, micros) = text.strip_prefix("reading ")?.split_once(" takes ")?;
        let micros = micros.strip_suffix(end)?.strip_suffix(" us here, ")?.parse().ok()?;
        Some((path.to_owned(), micros))
    };
    if let Some((path, micros)) = reading(sentence, "at every reading between runs") {
        return Some(EvidenceLimit::Dear { path, micros });
    }
    let known = DEAR.iter().find_map(|(what, kind)| Some((*kind, sentence.strip_prefix(what)?)));
    let (what, because) = known?;
    let (path, micros) = reading(because, "which would disturb the measurement")?;
    Some(EvidenceLimit::NotSeen { what, because: Obstacle::Dear { path, micros } })
}

fn left_out(sentence: &str) -> Option<SessionNote> {
    let failure = sentence.strip_suffix("; the suite went on without it")?.to_owned();
    Some(SessionNote::LeftOut { failure })
}

fn one_sided(sentence: &str) -> Option<SessionNote> {
    let (with, without) = sentence.strip_prefix("the benchmark ")?.split_once(" and not in ")?;
    let (benchmark, with) = with.split_once(" is in ")?;
    let names = |list: &str| -> Option<Vec<String>> {
        let names = list.strip_prefix('`')?.strip_suffix('`')?.split("`, `");
        Some(names.map(str::to_owned).collect())
    };
    let (with, without) = (names(with)?, names(without)?);
    Some(SessionNote::OneSided { benchmark: benchmark.to_owned(), with, without })
}

fn settled(sentence: &str) -> Option<SessionNote> {
    let told = sentence.strip_prefix("--settle waited before ")?;
    let (waited, told) = told.split_once(" of ")?;
    let rounds = told.split(' ').next()?.parse().ok()?;
    if waited == "none" {
        return Some(SessionNote::Settled { rounds, waited: 0, seconds: 0.0, longest: 0.0 });
    }
    let mut seconds = told.split_once(", ")?.1.split(" s ");
    Some(SessionNote::Settled {
        rounds,
        waited: waited.parse().ok()?,
        seconds: seconds.next()?.parse().ok()?,
        longest: seconds.next()?.rsplit(' ').next()?.parse().ok()?,
    })
}

/// Takes the revision out of the parameters of a subject, among which records without terms have it.
pub(super) fn revision(parameters: &mut Vec<(String, String)>) -> Option<Revision> {
    let find = |wanted: &str| {
        let found = parameters.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.clone())
    };
    let built = find("revision")?;
    let revision = Revision { built, changes_of: find("changes_of"), program: find("program") };
    parameters.retain(|(name, _)| !["revision", "changes_of", "program"].contains(&name.as_str()));
    Some(revision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, note: SessionNote) {
        assert_eq!(Note::from(sentence.to_owned()), Note::Session(note));
    }

    #[test]
    fn what_a_session_that_goes_on_has_to_recognise_becomes_a_value() {
        check(
            "`sort`: cannot start ./sort: No such file; the suite went on without it",
            SessionNote::LeftOut {
                failure: "`sort`: cannot start ./sort: No such file".to_owned(),
            },
        );
        check(
            "the benchmark a/b is in `A`, `C` and not in `B`",
            SessionNote::OneSided {
                benchmark: "a/b".to_owned(),
                with: vec!["A".to_owned(), "C".to_owned()],
                without: vec!["B".to_owned()],
            },
        );
        check(
            "--settle waited before none of 1 round: the machine was as at the start.",
            SessionNote::Settled { rounds: 1, waited: 0, seconds: 0.0, longest: 0.0 },
        );
        check(
            "--settle waited before 7 of 8 rounds, 1.25 s together, 0.50 s the longest.",
            SessionNote::Settled { rounds: 8, waited: 7, seconds: 1.25, longest: 0.5 },
        );
        let signal = Interruption::from("stopped by signal 2".to_owned());
        assert_eq!(signal, Interruption::Signal { signal: 2 });
    }

    #[test]
    fn what_was_dear_to_read_becomes_a_value() {
        let limit = |text: &str| Limit::from(text.to_owned());
        let path = "/proc/interrupts".to_owned();
        let because = Obstacle::Dear { path, micros: 39 };
        assert_eq!(
            limit(
                "interrupts are not counted: reading /proc/interrupts takes 39 us here, which would disturb the \
                 measurement"
            ),
            EvidenceLimit::NotSeen { what: Unseen::Interrupts, because }.into()
        );
        assert_eq!(
            limit("reading /proc/stat takes 250 us here, at every reading between runs"),
            EvidenceLimit::Dear { path: "/proc/stat".to_owned(), micros: 250 }.into()
        );
        let other = "interrupts are not counted: /proc/interrupts is not there";
        assert_eq!(limit(other), Limit::text(other));
    }

    #[test]
    fn other_sentences_are_kept() {
        for sentence in ["the files differ", "the benchmark is odd", "--settle waited", ""] {
            assert_eq!(Note::from(sentence.to_owned()), Note::text(sentence));
        }
        let failed = "`A` failed in run 3".to_owned();
        assert_eq!(Interruption::from(failed.clone()), Interruption::Text { text: failed });
    }
}
