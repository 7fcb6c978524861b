//! Flags that choose one of a few values of the terms, by the words that these have in JSON.

use becalm_model::conditions::{Aslr, Backend, Cache, Malloc, OnDisturbance, Pace, Padding, Thp};
use becalm_model::terms::Counters;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Values with the help of each.
type Choices<T, const N: usize> = [(T, &'static str); N];

/// Randomisation of addresses.
pub(crate) const ASLR: Choices<Aslr, 2> = [(Aslr::On, "On"), (Aslr::Off, "Off")];

/// What happens to freed memory.
pub(crate) const MALLOC: Choices<Malloc, 2> = [
    (Malloc::Left, "As its allocator decides"),
    (Malloc::Keep, "It is kept, through `GLIBC_TUNABLES`"),
];

/// Which transparent huge pages there are.
pub(crate) const THP: Choices<Thp, 4> = [
    (Thp::Inherit, "As set on the machine"),
    (Thp::Off, "None"),
    (Thp::Advised, "For programs that ask for them (Linux 6.18)"),
    (Thp::On, "glibc's allocator asks for them, through `GLIBC_TUNABLES` (glibc 2.35)"),
];

/// How environment size and stack start are treated.
pub(crate) const LAYOUT: Choices<Padding, 2> =
    [(Padding::Randomise, "Different in every round"), (Padding::Fixed, "Always the same")];

/// What happens to the page cache before each run.
pub(super) const CACHE: Choices<Cache, 3> = [
    (Cache::AsIs, "Nothing"),
    (Cache::Warm, "An unmeasured run fills it"),
    (Cache::Drop, "It is emptied"),
];

/// Whether the pace of the subjects' core is sampled.
pub(super) const PACE: Choices<Pace, 3> = [
    (Pace::Auto, "If it can be useful"),
    (Pace::On, "Whenever the subjects have one CPU"),
    (Pace::Off, "Nowhere"),
];

/// What happens to a disturbed round.
pub(super) const ON_DISTURBANCE: Choices<OnDisturbance, 2> = [
    (OnDisturbance::Keep, "It is labelled and used"),
    (OnDisturbance::Redo, "It is labelled, discarded and repeated"),
];

/// What counts instructions.
pub(super) const BACKEND: Choices<Backend, 2> = [
    (Backend::Processor, "The counters of the processor"),
    (Backend::Callgrind, "Valgrind's callgrind"),
];

/// Which counters are opened.
pub(super) const COUNTERS: Choices<Counters, 3> = [
    (Counters::All, "Software and hardware counters, as far as available"),
    (Counters::Software, "Software counters only"),
    (Counters::None, "None"),
];

/// Returns a parser that accepts one of these values by its name.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    choices: Choices<T, N>,
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(choices.map(|(one, help)| PossibleValue::new(name(one)).help(help)))
        .map(move |word| {
            let found = choices.iter().find(|(one, _)| name(*one) == word);
            found.expect("the parser accepts only these names").0
        })
}
