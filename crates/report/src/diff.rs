//! The output of `becalm diff`: two records that were measured at different times, or the subjects of one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use becalm_model::wire::Middles;
use becalm_model::{Comparison, ComparisonNote, Note, Record, RecordKind, Subject, Verdict};

use crate::comparison::legend;
use crate::comparison_table;
use crate::conditions;
use crate::labels::Labels;
use crate::notes;
use crate::page::Page;
use crate::quantity::{self, NBSP, Scale, signed_percent};
use crate::remarks;
use crate::sentence::{self, Claim};
use crate::shown;
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// The caveat that comes first: no statistics can remove it.
const DRIFT: &str = "The two were measured at different times, so drift of the machine between them cannot be \
     excluded: the intervals cover only the noise inside each record. For a reliable verdict, \
     measure both in one session with `becalm compare`.";

/// The sentence instead of it if it does not apply.
const IN_TURNS: &str = "The two were measured in turns in one session: the intervals are of the ratios inside its \
     rounds.";

/// How the sides of a diff were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// Separately: two records, or a file of another tool.
    Apart,
    /// In turns, as subjects of one session of becalm, which is both records.
    InTurns,
}

/// How many comparisons are shown with a sentence each.
const FEW: usize = 4;

/// Returns the middles of both sides of each comparison. In `comparisons`, `baseline` is an index into the subjects of
/// `old`, `candidate` into those of `new`, and `metric` into the metrics of `old`.
pub fn middles(old: &Record, new: &Record, comparisons: &[Comparison]) -> Vec<Middles> {
    let of_new: HashMap<&str, usize> =
        new.metrics.iter().map(|metric| metric.name.as_str()).zip(0..).collect();
    let median = |record: &Record, subject: usize, metric: usize| {
        let sample = shown::sample(record, subject, metric)?;
        Some(becalm_stats::center::median(&sample))
    };
    let of = |one: &Comparison| {
        let before = median(old, one.baseline, one.metric);
        let metric =
            old.metrics.get(one.metric).and_then(|metric| of_new.get(metric.name.as_str()));
        let after = metric.and_then(|&metric| median(new, one.candidate, metric));
        let are_bounds = old.is_cut_off(one.baseline) || new.is_cut_off(one.candidate);
        let of_medians = || {
            let (before, after) = before.zip(after).filter(|(before, _)| *before > 0.0)?;
            Some(after / before - 1.0).filter(|change| change.is_finite() && !are_bounds)
        };
        let of_ratio = one.ratio.map(|ratio| ratio.estimate - 1.0);
        Middles { old: before, new: after, change: of_ratio.or_else(of_medians) }
    };
    comparisons.iter().map(of).collect()
}

/// Draws what changed between two records, or between the subjects of one that is given twice. In `comparisons`, `baseline` is an index into the
/// subjects of `old`, `candidate` into those of `new`, and `metric` into the metrics of `old`.
///
/// `margin` and `confidence` are those that the comparisons were judged by, unless the suite of the
/// new record sets another margin; `not_compared` is about what only one of the records has.
pub fn diff_text(
    (old, new): (&Record, &Record),
    sides: Sides,
    comparisons: &[Comparison],
    (margin, confidence): (f64, f64),
    not_compared: &[Note],
    style: &Style,
) -> String {
    let mut page = Page::new(style);
    match sides {
        Sides::Apart => page.say_as(Role::Warning, DRIFT),
        Sides::InTurns => page.say(IN_TURNS),
    }
    if let Some(warning) = other_surroundings(old, new) {
        page.say_as(Role::Warning, &warning);
    }
    page.gap();
    let labels = (Labels::of(&old.subjects), Labels::of(&new.subjects));
    let name = |comparison: &Comparison| {
        let old_name = labels.0.get(comparison.baseline);
        let new_name = labels.1.get(comparison.candidate);
        if old_name == new_name {
            (format!("old {old_name}"), format!("new {new_name}"))
        } else {
            (old_name.to_owned(), new_name.to_owned())
        }
    };
    let titles = match sides {
        Sides::Apart => ["old", "new"],
        Sides::InTurns => ["baseline", "candidate"],
    };
    let mut table = Table::new([
        ("subject".to_owned(), Align::Left),
        ("metric".to_owned(), Align::Left),
        (titles[0].to_owned(), Align::Right),
        (titles[1].to_owned(), Align::Right),
        ("change".to_owned(), Align::Right),
        (format!("{}{NBSP}interval", quantity::confidence(confidence)), Align::Left),
        ("verdict".to_owned(), Align::Left),
    ]);
    for (comparison, middles) in comparisons.iter().zip(middles(old, new, comparisons)) {
        let metric = shown::metric_at(old, comparison.metric);
        let (baseline, candidate) = name(comparison);
        let differs = matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
        // The table has them all; of many only those that differ are said.
        if comparisons.len() <= FEW || differs {
            let reason = no_ratio(comparison).map(notes::sentence);
            let text = sentence::verdict(&Claim {
                baseline: &baseline,
                candidate: &candidate,
                metric: &metric,
                comparison,
                unit: match sides {
                    Sides::Apart => "run",
                    Sides::InTurns => remarks::unit(old),
                },
                reason: reason.as_deref(),
                confidence,
                margin: new.margin_of(comparison.candidate, &metric).unwrap_or(margin),
                aa: sides == Sides::InTurns && old.aa,
            });
            page.say_as(Role::of(comparison.verdict), &text);
        }
        let medians = [middles.old, middles.new];
        let scale = Scale::of(&metric.unit, medians.iter().flatten().copied(), style.unicode);
        let shown = |value: Option<f64>| -> Cell {
            value.map_or("-".into(), |value| scale.with_unit(value).into())
        };
        let subject = labels.1.get(comparison.candidate);
        let mut row: Vec<Cell> =
            vec![subject.into(), metric.name.as_str().into(), shown(medians[0]), shown(medians[1])];
        let [change, interval, verdict] = comparison_table::result_cells(&metric, comparison);
        // Without an interval the change is what it is, and decides nothing. Of lower bounds there is none.
        let change = match (comparison.ratio, middles.change) {
            (None, Some(change)) => signed_percent(change, 1).into(),
            _ => change,
        };
        row.extend([change, interval, verdict]);
        table.push(row);
    }
    if comparisons.is_empty() {
        page.say("The two records have no subject and metric in common.");
    } else {
        page.gap();
        page.table(&table);
        legends(&mut page, (old, &labels.0), (new, &labels.1), titles);
    }
    for note in not_compared {
        page.gap();
        page.say_as(Role::Warning, &notes::sentence(note));
    }
    reasons(&mut page, comparisons);
    if sides == Sides::Apart {
        differences(&mut page, old, new);
    }
    page.finish()
}

/// Says what labels stand for, once where both records have the same subjects.
fn legends(
    page: &mut Page<'_>,
    old: (&Record, &Labels),
    new: (&Record, &Labels),
    titles: [&str; 2],
) {
    if !old.1.needs_legend && !new.1.needs_legend {
        return;
    }
    if old.0.subjects == new.0.subjects {
        page.gap();
        legend(page, new.0, new.1);
        return;
    }
    for ((record, labels), title) in [old, new].into_iter().zip(titles) {
        page.section(title);
        legend(page, record, labels);
    }
}

/// Words in the names of facts that can change a result on their own.
const SURROUNDINGS: [&str; 12] = [
    "compiler",
    "build",
    "version",
    "runtime",
    "toolchain",
    "jdk",
    "jvm",
    "kernel",
    "governor",
    "scaling",
    "turbo",
    "smt",
];

/// Warns of differences beside the program, if both files have them: facts of the machine, and how
/// the subjects were started. Any of them can change a result.
fn other_surroundings(old: &Record, new: &Record) -> Option<String> {
    let facts = (old.machine.facts.iter())
        .filter(|(key, before)| new.machine.facts.get(*key).is_some_and(|after| after != *before))
        .map(|(key, _)| key.as_str())
        .filter(|key| SURROUNDINGS.iter().any(|word| key.contains(word)));
    let is_foreign = [old, new].iter().any(|record| record.kind == RecordKind::Import);
    let conditions: BTreeSet<&str> = (changed(conditions::rows, old, new).into_iter())
        .map(|(name, ..)| name)
        // How many variables there were hardly matters beside what they say, which is not recorded.
        .filter(|name| !is_foreign && *name != "environment")
        .collect();
    let all: Vec<&str> = facts.chain(conditions).collect();
    (!all.is_empty()).then(|| {
        format!(
            "More than the program differs: {}. The change may be due to that; both values are \
             listed below.",
            all.join(", ")
        )
    })
}

/// Returns why a comparison of sides that were measured separately has no ratio.
fn no_ratio(comparison: &Comparison) -> Option<&Note> {
    let denies = |note: &&Note| matches!(note, Note::Comparison(note) if note.denies_ratio());
    // What was left out comes before what is wrong with the rest.
    comparison.notes.iter().rev().find(denies).filter(|_| comparison.ratio.is_none())
}

/// Says whether a note belongs to every comparison of two records.
fn is_of_both(note: &Note) -> bool {
    matches!(note, Note::Comparison(ComparisonNote::MeasuredSeparately))
}

/// Says once what else the reader has to know about some comparisons.
fn reasons(page: &mut Page, comparisons: &[Comparison]) {
    let mut reasons: Vec<(&Note, usize)> = Vec::new();
    for one in comparisons {
        // Why there is no ratio stands in the sentence, if it has one.
        let told = no_ratio(one).filter(|_| comparisons.len() <= FEW);
        // That they were measured apart stands at the top.
        let others = one.notes.iter().filter(|note| Some(*note) != told && !is_of_both(note));
        for reason in others {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, n)) => *n += 1,
                None => reasons.push((reason, 1)),
            }
        }
    }
    for (reason, n) in reasons {
        let of = if n == comparisons.len() {
            String::new()
        } else {
            format!("{n} of {}: ", comparisons.len())
        };
        page.gap();
        page.say_as(Role::Inconclusive, &format!("{of}{}.", notes::sentence(reason)));
    }
}

/// Rows of a name and a text.
type Rows = Vec<(&'static str, String)>;

/// Returns the rows that differ, with both texts: those of the old record in its order, then the new one's own.
fn changed(
    rows: fn(&Record) -> Rows,
    old: &Record,
    new: &Record,
) -> Vec<(&'static str, String, String)> {
    let sides = [rows(old), rows(new)];
    let of = |side: usize, name: &str| {
        sides[side].iter().find(|row| row.0 == name).map_or("-", |row| row.1.as_str()).to_owned()
    };
    let added = sides[1].iter().filter(|row| !sides[0].iter().any(|old| old.0 == row.0));
    (sides[0].iter().chain(added))
        .map(|(name, _)| (*name, of(0, name), of(1, name)))
        .filter(|(_, before, after)| before != after)
        .collect()
}

/// Compares every text that either side has under a name.
fn compare_all(
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
    compare: &mut impl FnMut(&str, &str, &str),
) {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let of = |side: &BTreeMap<String, String>| {
            side.get(name).map_or_else(|| "-".to_owned(), Clone::clone)
        };
        compare(name, &of(old), &of(new));
    }
}

/// Lists what else differs: a change of kernel explains more than any interval.
fn differences(page: &mut Page, old: &Record, new: &Record) {
    let mut table = Table::new([("", Align::Left), ("old", Align::Left), ("new", Align::Left)]);
    let mut compare = |name: &str, before: &str, after: &str| {
        if before != after {
            table.push([name.into(), before.into(), after.into()]);
        }
    };
    for rows in [conditions::session, conditions::rows] {
        for (name, before, after) in changed(rows, old, new) {
            // Seeds and times differ always and say nothing.
            if name != "seed" {
                compare(name, &before, &after);
            }
        }
    }
    // Two loads of one server have the same name, whatever was sent.
    if let ([before], [after]) = (&old.subjects[..], &new.subjects[..]) {
        let of = |subject: &Subject, record: &Record| -> BTreeMap<String, String> {
            subject.series_parameters(record.kind == RecordKind::Import).cloned().collect()
        };
        compare_all(&of(before, old), &of(after, new), &mut compare);
    }
    compare_all(&old.machine.facts, &new.machine.facts, &mut compare);
    let is_foreign = [old, new].iter().any(|record| record.kind == RecordKind::Import);
    if table.is_empty() && is_foreign {
        page.section("What is known about session and machine is the same in both.");
    } else if table.is_empty() {
        page.section("Session, conditions and machine facts are the same in both.");
    } else {
        page.section("What else differs");
        page.table(&table);
    }
}
