//! A plan as JSON.

use becalm_model::wire::{
    PLAN_SCHEMA, PlanChoiceDocument, PlanDocument, PlanGoalDocument, PlanLevelDocument, json_text,
    worded,
};
use becalm_report::{Planned, PlannedComparison, WORDS};
use becalm_stats::levels::Precision;
use becalm_stats::whole::count;

pub(super) fn json(planned: &Planned) -> String {
    let Precision { share, confidence } = planned.goal;
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
        goal: PlanGoalDocument { precision: Some(share), detect: None, power: None, confidence },
        plan: planned.plan.as_ref().map(|plan| PlanChoiceDocument {
            counts: plan.counts.clone(),
            seconds: plan.seconds,
            counts_low: planned.range.map(|(low, _)| low),
            counts_high: planned.range.map(|(_, high)| high).filter(|&high| high < u32::MAX),
            usual: None,
            noise_floor: None,
        }),
        warmup_iterations: planned.warmup_iterations,
        notes: worded(&planned.notes, WORDS.note),
    };
    json_text(&document)
}

pub(super) fn json_of_comparison(planned: &PlannedComparison) -> String {
    let wanted = &planned.wanted;
    let document = PlanDocument {
        schema: PLAN_SCHEMA.to_owned(),
        metric: planned.metric.clone(),
        typical: planned.typical,
        unit: planned.unit.to_string(),
        levels: vec![PlanLevelDocument {
            level: "round".to_owned(),
            variance: planned.spread.deviation.powi(2),
            df: count(planned.spread.df) as usize,
            cost: planned.seconds,
            pilot: planned.rounds as f64,
        }],
        goal: PlanGoalDocument {
            precision: None,
            detect: Some(wanted.change),
            power: Some(wanted.power),
            confidence: wanted.confidence,
        },
        plan: planned.needed.map(|needed| PlanChoiceDocument {
            counts: vec![needed.rounds],
            seconds: f64::from(needed.rounds) * planned.seconds,
            counts_low: planned.range.map(|(low, _)| low),
            counts_high: planned.range.and_then(|(_, high)| high),
            usual: Some(needed.usual),
            noise_floor: Some(needed.noise_floor),
        }),
        warmup_iterations: 0,
        notes: worded(&planned.notes, WORDS.note),
    };
    json_text(&document)
}
