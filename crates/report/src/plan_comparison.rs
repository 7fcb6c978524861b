//! How many rounds a comparison needs: the output of `becalm plan --detect`.

use becalm_model::{Note, Unit};
use becalm_stats::decide::needed::{Needed, Wanted};
use becalm_stats::decide::paired::Spread;

use crate::moment::roughly;
use crate::page::Page;
use crate::plan::{say_notes, say_range};
use crate::quantity::{NBSP, Scale, confidence, count, percent};
use crate::style::{Role, Style};

/// What a pilot shows about a comparison, and what follows from it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedComparison {
    /// What was measured: a program, or two.
    pub subject: String,
    /// Name of the metric that decides.
    pub metric: String,
    /// Whether the user named it.
    pub is_named: bool,
    /// Its unit.
    pub unit: Unit,
    /// Geometric mean of the values.
    pub typical: f64,
    /// By how much the log ratio of a round varies.
    pub spread: Spread,
    /// Rounds of the pilot.
    pub rounds: usize,
    /// Seconds that a round takes.
    pub seconds: f64,
    /// The change to detect.
    pub wanted: Wanted,
    /// The margin of `compare` unless the user sets one.
    pub usual_margin: f64,
    /// What it needs; `None` if no number of rounds detects it.
    pub needed: Option<Needed>,
    /// Rounds needed at the ends of the range that the pilot leaves open; without a high end, it
    /// may be that no number is enough.
    pub range: Option<(u32, Option<u32>)>,
    /// What the reader has to know.
    pub notes: Vec<Note>,
}

/// Draws how much rounds vary and how many are needed.
pub fn plan_comparison_text(planned: &PlannedComparison, style: &Style) -> String {
    let mut page = Page::new(style);
    let scale = Scale::of(&planned.unit, [planned.typical], style.unicode);
    let varies = if planned.spread.deviation > 0.0 {
        format!("varies by {} (standard deviation)", percent(planned.spread.deviation))
    } else {
        "is always the same".to_owned()
    };
    page.say(&format!(
        "{}, {}: {}. The ratio of two runs in a round {varies}, in {}.",
        planned.subject,
        planned.metric,
        scale.with_unit(planned.typical),
        count(planned.rounds, "round"),
    ));
    let Wanted { change, power, confidence: at, .. } = planned.wanted;
    page.section(&format!(
        "To detect a change of {} between two programs, with {} power, at {} confidence",
        percent(change),
        confidence(power),
        confidence(at)
    ));
    match &planned.needed {
        None => page.say_as(
            Role::Warning,
            "With the variance of this pilot, no number of rounds detects this: the ratio varies \
             too much. Quiet the machine (`becalm check`), or look for a larger change.",
        ),
        Some(needed) => the_plan(&mut page, planned, needed),
    }
    say_notes(&mut page, &planned.notes);
    page.finish()
}

fn the_plan(page: &mut Page, planned: &PlannedComparison, needed: &Needed) {
    let Needed { rounds, usual, noise_floor } = *needed;
    let takes = |rounds: u32| roughly(f64::from(rounds) * planned.seconds);
    let rounds_at_most = count(rounds as usize, "round");
    page.say_as(Role::Heading, &format!("{rounds_at_most} at most: {}.", takes(rounds)));
    page.indented(&command(planned, rounds));
    if usual < rounds {
        page.say(&format!(
            "If the change is that large, half of such sessions end after {} ({}).",
            count(usual as usize, "round"),
            takes(usual),
        ));
    }
    page.say(&format!("After all rounds the noise floor is {}.", percent(noise_floor)));
    if planned.wanted.margin < planned.usual_margin {
        page.say(&format!(
            "Without a margin: a change of {} lies inside the default margin of {}.",
            percent(planned.wanted.change),
            percent(planned.usual_margin),
        ));
    }
    if let Some((low, high)) = planned.range {
        say_range(page, planned.rounds, "round", low, high);
    }
}

/// Confidence of `compare` unless the user sets one.
const USUAL_CONFIDENCE: f64 = 0.95;

/// Returns the command that starts such a session.
fn command(planned: &PlannedComparison, rounds: u32) -> String {
    let Wanted { confidence: at, margin, .. } = planned.wanted;
    let flag = |name: &str, share: f64, usual: f64| {
        let is_usual = (share - usual).abs() < f64::EPSILON;
        (!is_usual).then(|| format!(" {name} {}", confidence(share).replace(NBSP, "")))
    };
    let margin = flag("--margin", margin, planned.usual_margin).unwrap_or_default();
    let at = flag("--confidence", at, USUAL_CONFIDENCE).unwrap_or_default();
    let metric =
        if planned.is_named { format!(" --metric {}", planned.metric) } else { String::new() };
    format!("becalm compare --max-rounds {rounds}{metric}{margin}{at} OLD NEW")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(needed: Option<Needed>) -> PlannedComparison {
        PlannedComparison {
            subject: "./a".to_owned(),
            metric: "cpu_time".to_owned(),
            is_named: false,
            unit: Unit::Second,
            typical: 0.0042,
            spread: Spread { deviation: 0.03, df: 38.0 },
            rounds: 40,
            seconds: 0.01,
            wanted: Wanted { change: 0.02, power: 0.9, confidence: 0.95, margin: 0.01 },
            usual_margin: 0.01,
            needed,
            range: Some((40, Some(78))),
            notes: Vec::new(),
        }
    }

    #[test]
    fn rounds_stand_beside_the_command_that_makes_them() {
        let needed = Needed { rounds: 57, usual: 39, noise_floor: 0.009 };
        insta::assert_snapshot!(plan_comparison_text(&planned(Some(needed)), &Style::PLAIN));
    }

    #[test]
    fn what_no_number_of_rounds_finds_is_said() {
        let text = plan_comparison_text(&planned(None), &Style::PLAIN);
        assert!(text.contains("no number of rounds detects this"), "{text}");
    }

    #[test]
    fn the_command_has_what_is_not_usual() {
        let wanted = Wanted { confidence: 0.99, margin: 0.0, ..planned(None).wanted };
        let named = PlannedComparison { wanted, is_named: true, ..planned(None) };
        assert_eq!(
            command(&named, 9),
            "becalm compare --max-rounds 9 --metric cpu_time --margin 0% --confidence 99% OLD NEW"
        );
    }
}
