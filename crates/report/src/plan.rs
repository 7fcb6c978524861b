//! How often each level is worth repeating: the output of `becalm plan`.

use becalm_model::{Note, Unit};
use becalm_stats::levels::{Kind, Pilot, Precision, Repetitions};

use crate::moment::roughly;
use crate::notes;
use crate::page::Page;
use crate::quantity::{NBSP, Scale, confidence, count, percent};
use crate::steady::short_time;
use crate::style::{Role, Style};
use crate::table::Table;

/// What a pilot shows, and what follows from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// Name of what was measured, for the first line.
    pub subject: String,
    /// Name of the metric; `iteration` for times that the subject measured itself.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Levels, variances and costs.
    pub pilot: Pilot,
    /// The interval to reach.
    pub goal: Precision,
    /// The cheapest plan; `None` if nothing reaches the goal.
    pub plan: Option<Repetitions>,
    /// The fewest repetitions of the highest level that reach the goal with the numbers of the pilot
    /// below it.
    pub as_the_pilot: Option<Repetitions>,
    /// Repetitions of the highest level at the ends of the range that the pilot leaves open.
    pub range: Option<(u32, u32)>,
    /// Iterations skipped at the start of every run.
    pub warmup_iterations: usize,
    /// Whether every round of the pilot ran another layout of the program, so that the layout
    /// causes the difference between rounds.
    pub by_layout: bool,
    /// What the reader has to know, as sentences.
    pub notes: Vec<Note>,
}

impl Planned {
    /// Returns the word for a level, as in JSON.
    pub fn word(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Round if self.by_layout => "layout",
            Kind::Round => "round",
            Kind::Run => "run",
            Kind::Iteration => "iteration",
        }
    }
}

/// Draws where the variance arises and the cheapest numbers of repetitions.
pub fn plan_text(planned: &Planned, style: &Style) -> String {
    let mut page = Page::new(style);
    let scale = Scale::of(&planned.unit, [planned.pilot.typical], style.unicode);
    page.say(&format!(
        "{}, {}: {} in {}.",
        planned.subject,
        planned.metric,
        scale.with_unit(planned.pilot.typical),
        shape(planned, |index| planned.pilot.levels[index].repetitions),
    ));
    page.section("Where the variance arises");
    page.table(&variances(&planned.pilot, |kind| planned.word(kind)));
    let Precision { share, confidence: at } = planned.goal;
    let either = style.pick("±", "+-");
    page.section(&format!("For an interval of {either}{} at {}", percent(share), confidence(at)));
    match &planned.plan {
        None => page.say_as(
            Role::Warning,
            "With the variance of this pilot, no number of repetitions reaches this: the variance \
             of the highest level is too large. Quiet the machine (`becalm check`), or ask for a \
             wider interval.",
        ),
        Some(plan) => the_plan(&mut page, planned, plan),
    }
    say_notes(&mut page, &planned.notes);
    page.finish()
}

/// Says what the reader has to know about a pilot.
pub(crate) fn say_notes(page: &mut Page, of: &[Note]) {
    for note in of {
        page.gap();
        page.say_as(Role::Hint, &notes::sentence(note));
    }
}

fn variances(pilot: &Pilot, word: impl Fn(Kind) -> &'static str) -> Table {
    let titles = ["deviation", "share of variance", "one more costs", "in the pilot"];
    let mut table = Table::of_numbers("level", titles);
    let visible = |variance: f64| variance.max(0.0);
    let all: f64 = pilot.levels.iter().map(|level| visible(level.component.variance)).sum();
    for level in &pilot.levels {
        let variance = visible(level.component.variance);
        let deviation = if level.component.variance > 0.0 {
            percent(variance.sqrt())
        } else {
            "none seen".to_owned()
        };
        table.push([
            word(level.kind).into(),
            deviation.into(),
            if all > 0.0 { percent(variance / all).into() } else { "-".into() },
            short_time(level.cost).into(),
            short_count(level.repetitions).into(),
        ]);
    }
    table
}

fn short_count(mean: f64) -> String {
    if (mean - mean.round()).abs() < 0.05 { format!("{mean:.0}") } else { format!("{mean:.1}") }
}

fn the_plan(page: &mut Page, planned: &Planned, plan: &Repetitions) {
    let counts = shape(planned, |index| f64::from(plan.counts[index]));
    page.say_as(Role::Heading, &format!("{counts}: {}.", roughly(plan.seconds)));
    if let Some((low, high)) = planned.range {
        let highest = &planned.pilot.levels[0];
        let high = (high < u32::MAX).then_some(high);
        say_range(page, highest.component.df + 1, planned.word(highest.kind), low, high);
    }
    if let Some(other) = &planned.as_the_pilot
        && other.seconds > plan.seconds * 1.05
    {
        let counts = shape(planned, |index| f64::from(other.counts[index]));
        page.say(&format!(
            "With the numbers of the pilot it would be {counts}: {}, {:.1} times as long.",
            roughly(other.seconds),
            other.seconds / plan.seconds
        ));
    }
    if planned.warmup_iterations > 0 {
        page.say(&format!(
            "Each run needs {} more at its start, which are skipped; their time is part of the \
             cost of a run.",
            count(planned.warmup_iterations, "iteration")
        ));
    }
}

/// Says what a pilot of this many repetitions leaves open; without a high end, it may be that no
/// number is enough.
pub(crate) fn say_range(page: &mut Page, pilot: usize, word: &str, low: u32, high: Option<u32>) {
    if high == Some(low) {
        return;
    }
    page.say(&format!(
        "The pilot had only {}, so the number needed may be anything from {low} to {} (90{NBSP}%).",
        count(pilot, word),
        high.map_or("any number".to_owned(), |high| count(high as usize, word)),
    ));
}

/// Writes the numbers of all levels: `8 rounds of 2 runs of 40 iterations`.
fn shape(planned: &Planned, number: impl Fn(usize) -> f64) -> String {
    let parts: Vec<String> = planned
        .pilot
        .levels
        .iter()
        .enumerate()
        .map(|(index, level)| {
            let number = number(index);
            let word = planned.word(level.kind);
            let plural = if (number - 1.0).abs() < 0.05 { "" } else { "s" };
            format!("{}{NBSP}{word}{plural}", short_count(number))
        })
        .collect();
    parts.join(" of ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_stats::levels::{Component, PilotLevel};

    fn level(kind: Kind, deviation: f64, cost: f64, repetitions: f64) -> PilotLevel {
        let component = Component { variance: deviation * deviation, df: 9 };
        PilotLevel { kind, component, cost, repetitions }
    }

    fn planned(plan: Option<Repetitions>) -> Planned {
        Planned {
            by_layout: false,
            subject: "./a".to_owned(),
            metric: "iteration".to_owned(),
            unit: Unit::Second,
            pilot: Pilot {
                typical: 0.0042,
                levels: vec![
                    level(Kind::Round, 0.012, 0.0, 10.0),
                    level(Kind::Run, 0.008, 0.35, 3.0),
                    level(Kind::Iteration, 0.021, 0.0042, 200.0),
                ],
                draws: Vec::new(),
            },
            goal: Precision { share: 0.01, confidence: 0.95 },
            as_the_pilot: Some(Repetitions {
                counts: vec![9, 3, 200],
                seconds: 32.0,
                standard_error: 0.004,
            }),
            range: Some((6, 19)),
            plan,
            warmup_iterations: 30,
            notes: vec![Note::text("A note.")],
        }
    }

    #[test]
    fn the_cheapest_plan_stands_beside_the_pilots_shape() {
        let plan = Repetitions { counts: vec![11, 1, 16], seconds: 4.6, standard_error: 0.0045 };
        insta::assert_snapshot!(plan_text(&planned(Some(plan)), &Style::PLAIN));
    }

    #[test]
    fn a_plan_fits_on_a_narrow_terminal() {
        let plan = Repetitions { counts: vec![11, 1, 16], seconds: 4.6, standard_error: 0.0045 };
        for plan in [Some(plan), None] {
            let text = plan_text(&planned(plan), &Style { width: 40, ..Style::PLAIN });
            crate::width::fits_on_forty("plan", &text);
        }
    }

    #[test]
    fn a_goal_out_of_reach_is_said() {
        let text = plan_text(&planned(None), &Style::PLAIN);
        assert!(text.contains("no number of repetitions reaches this"), "{text}");
        assert!(text.is_ascii() || text.contains('\u{a0}'), "{text}");
    }
}
