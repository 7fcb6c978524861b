//! Plain values that every part of becalm agrees on.
//!
//! The words are those of the command line, of the JSON documents and of the reports. Nothing here
//! does I/O, reads a clock or keeps state. Documents that leave the process live in [`wire`] and are
//! versioned; a value that has the same shape in them is one type, and serialises itself.
//!
//! It may use nothing of ours. Start reading in `record.rs`: a record is what everything else makes or takes;
//! `terms/` is what was settled before its first run, `note/` what its reader has to know.

pub mod ablate;
mod about;
mod as_text;
mod calendar;
mod causes;
pub mod ci;
pub mod conditions;
mod cpu;
mod evidence;
mod finding;
mod fnv;
pub mod gate;
pub mod history;
mod knob;
pub mod load;
mod machine;
/// What is recorded per run, and the names of the metrics that every run has.
pub mod metric;
mod note;
mod pattern;
mod quantity;
mod record;
mod revision;
mod run;
mod runs;
mod seconds;
mod shell;
mod subject;
pub mod terms;
pub mod trace;
mod verdict;
mod whole;
pub mod wire;
mod words;

pub use calendar::{is_of_calendar, parse_time, time_text};
pub use causes::with_causes;
pub use conditions::{Conditions, KnobRecord, KnobState, Moved};
pub use cpu::{CpuId, CpuListError, CpuSet, MAX_CPU};
pub use evidence::{Disturbance, DisturbanceSource, DisturbedRun, Evidence};
pub use finding::{Checkup, Finding, Fix, Severity};
pub use fnv::{digest, fnv1a};
pub use knob::{Change, Nature, NewInterrupts, ProcessIdentity, Target};
pub use machine::MachineFacts;
pub use metric::{Direction, Metric, Unit};
pub use note::{
    Age, BisectNote, Calm, Compared, ComparisonNote, ConditionName, CounterLimit, CounterObstacle,
    CutOffWorth, DiffNote, Difference, Earlier, EvidenceLimit, FactDiffers, GateAdvice, GateNote,
    GateReason, ImportFact, ImportNote, Interruption, Limit, Note, Observation, Obstacle,
    PaceObstacle, PlacementLimit, PlanNote, ProbeLimit, Sentence, SessionLimit, SessionNote,
    SharedBecause, Side, Stray, TopologyLimit, TraceLimit, Unseen, WallTimeReason,
};
pub use pattern::fits;
pub use quantity::{QuantityError, counted, is_are, parse_amount, parse_duration, parse_share};
pub use record::{Record, RecordKind, Source, Summary};
pub use revision::Revision;
pub use run::{Outcome, Part, Run};
pub use runs::Runs;
pub use shell::{shell_line, shell_word};
pub use subject::{MetricTerms, Subject, SubjectTerms, SuiteOutlook};
pub use verdict::{Comparison, RatioInterval, Verdict};
pub use whole::{place, whole};
