//! A plan as JSON.

use becalm_model::wire::{
    PLAN_SCHEMA, PlanChoiceDocument, PlanDocument, PlanGoalDocument, PlanLevelDocument, json_text,
    worded,
};
use becalm_report::{Planned, WORDS};
use becalm_stats::levels::Goal;

pub(super) fn json(planned: &Planned) -> String {
    let (precision, detect, power, confidence) = match planned.goal {
        Goal::Precision { share, confidence } => (Some(share), None, None, confidence),
        Goal::Detect { change, power, confidence } => (None, Some(change), Some(power), confidence),
    };
    let document = PlanDocument {
        schema: PLAN_SCHEMA.to_owned(),
        metric: planned.metric.clone(),
        typical: planned.pilot.typical,
        unit: planned.unit.to_string(),
        levels: planned
            .pilot
            .levels
            .iter()
            .map(|level| PlanLevelDocument {
                level: planned.word(level.kind).to_owned(),
                variance: level.component.variance,
                df: level.component.df,
                cost: level.cost,
                pilot: level.repetitions,
            })
            .collect(),
        goal: PlanGoalDocument { precision, detect, power, confidence },
        plan: planned.plan.as_ref().map(|plan| PlanChoiceDocument {
            counts: plan.counts.clone(),
            seconds: plan.seconds,
            counts_low: planned.range.map(|(low, _)| low),
            counts_high: planned.range.map(|(_, high)| high).filter(|&high| high < u32::MAX),
        }),
        warmup_iterations: planned.warmup_iterations,
        notes: worded(&planned.notes, WORDS.note),
    };
    json_text(&document)
}
