//! A comparison in blocks on several machines: the answer, what each machine shows, how far it is.

use becalm_model::wire::{
    Canary, FleetComparison, FleetDocument, FleetMachine, FleetState, LeftOutFor, MachineRatio,
    TryState,
};
use becalm_model::{Comparison, RatioInterval, Verdict, counted};

use crate::page::{ELSEWHERE, Page};
use crate::quantity::{self, Scale, confidence, percent, signed_percent};
use crate::sentence::{self, Claim, verdict_word};
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// Fewer machines have intervals that are wide because they are few.
const FEW: usize = 4;

/// Writes how far a fleet is, and what its blocks show together.
pub fn fleet_text(document: &FleetDocument, style: &Style) -> String {
    page(document, style).finish()
}

/// Writes the same as a web page, made by this version of becalm.
pub fn fleet_html(document: &FleetDocument, version: &str) -> String {
    page(document, &ELSEWHERE).html(version)
}

/// Writes the same as Markdown.
pub fn fleet_markdown(document: &FleetDocument) -> String {
    page(document, &ELSEWHERE).markdown()
}

fn page<'a>(document: &FleetDocument, style: &'a Style) -> Page<'a> {
    let mut page = Page::new(style);
    let deciding: Vec<&FleetComparison> =
        document.comparisons.iter().filter(|one| one.primary).collect();
    for one in &deciding {
        page.say_as(Role::of(one.verdict), &answer(one, document));
        if let Some(text) = agreement(one) {
            page.say(&text);
        }
    }
    if let Some(text) = differing_types(&document.machines) {
        page.say_as(Role::Warning, &text);
    }
    if let Some(text) = few(&deciding) {
        page.say_as(Role::Hint, &text);
    }
    page.gap();
    page.say(&how_far(document));
    page.gap();
    page.table(&machines(document));
    for one in &deciding {
        page.section(&format!("{} against {} on {}", one.candidate, one.baseline, one.metric.name));
        page.table(&ratios(one));
    }
    let others: Vec<&FleetComparison> = document
        .comparisons
        .iter()
        .filter(|one| !one.primary && one.ratio.ratio.is_some())
        .collect();
    if !others.is_empty() {
        page.section("Other metrics, over all machines");
        page.table(&secondary(&others));
    }
    if !document.levels.is_empty() {
        page.section(&format!(
            "Levels over machines, with their {} intervals",
            confidence(document.confidence)
        ));
        page.table(&levels(document, style));
    }
    let reasons = document.machines.iter().filter_map(|machine| {
        let why = machine.left_out.as_ref()?;
        Some(format!("{} {}.", machine.name, left_out_words(why)))
    });
    page.list("Machines that get no further blocks", reasons);
    page
}

/// Says what the machines show together.
fn answer(one: &FleetComparison, document: &FleetDocument) -> String {
    let ratio: Option<RatioInterval> = one.ratio.into();
    let Some(_) = ratio else {
        let (baseline, candidate) = (&one.baseline, &one.candidate);
        let has = match one.machines.len() {
            0 => "no machine has",
            _ => "only one machine has",
        };
        return format!(
            "Inconclusive for machines of this type: {has} compared {candidate} with {baseline} on {}, and an interval \
             needs two.",
            one.metric.name,
        );
    };
    let comparison = Comparison {
        baseline: 0,
        candidate: 1,
        metric: 0,
        primary: true,
        ratio,
        verdict: one.verdict,
        confidence: one.confidence,
        rounds: 0,
        discarded_rounds: 0,
        noise_floor: None,
        rounds_needed: None,
        notes: Vec::new(),
    };
    sentence::verdict(&Claim {
        baseline: &one.baseline,
        candidate: &one.candidate,
        metric: &one.metric,
        comparison: &comparison,
        unit: "machine",
        reason: None,
        confidence: document.confidence,
        margin: document.margin,
        aa: document.aa,
    })
}

/// Says which machines agree; nothing of a single one.
fn agreement(one: &FleetComparison) -> Option<String> {
    let all = one.machines.len();
    if all < 2 {
        return None;
    }
    let with = |verdict: Verdict| one.machines.iter().filter(move |it| it.verdict == verdict);
    let (most, count) = Verdict::ALL
        .map(|verdict| (verdict, with(verdict).count()))
        .into_iter()
        .rev()
        .max_by_key(|(_, count)| *count)?;
    let word = |verdict| verdict_word(&one.metric, verdict);
    let differ = one.deviation.filter(|deviation| *deviation > 0.0).map(|deviation| {
        format!(" Their ratios differ by {} (standard deviation).", percent(deviation.exp_m1()))
    });
    let differ = differ.unwrap_or_default();
    if count == all {
        let which =
            if all == 2 { "Both machines".to_owned() } else { format!("All {all} machines") };
        return Some(format!("{which}, each alone, say {}.{differ}", word(most)));
    }
    let others: Vec<String> = Verdict::ALL
        .into_iter()
        .filter(|verdict| *verdict != most)
        .filter_map(|verdict| {
            let names: Vec<&str> = with(verdict).map(|it| it.machine.as_str()).collect();
            let say = if names.len() == 1 { "says" } else { "say" };
            (!names.is_empty()).then(|| format!("{} {say} {}", names.join(", "), word(verdict)))
        })
        .collect();
    Some(format!(
        "{count} of {all} machines agree, each alone, on {}; {}.{differ}",
        word(most),
        others.join("; ")
    ))
}

/// Warns where the machines are not of one type.
fn differing_types(machines: &[FleetMachine]) -> Option<String> {
    let counting = || {
        let keeps = |it: &&FleetMachine| it.left_out.as_ref().is_none_or(LeftOutFor::keeps_blocks);
        machines.iter().filter(keeps)
    };
    let differ = |of: fn(&FleetMachine) -> Option<&String>| {
        let mut found = counting().filter_map(of);
        let first = found.next();
        found.any(|other| Some(other) != first)
    };
    let what = match (differ(|it| it.processor.as_ref()), differ(|it| it.kernel.as_ref())) {
        (false, false) => return None,
        (true, false) => "different processors",
        (false, true) => "different kernels",
        (true, true) => "different processors and kernels",
    };
    Some(format!(
        "Warning: the machines have {what}, so the answer is not about one type of machine: choose them by \
         `constraint=`."
    ))
}

/// Says what few machines cost, where that leaves a question open.
fn few(deciding: &[&FleetComparison]) -> Option<String> {
    let open = deciding.iter().filter(|one| one.verdict == Verdict::Inconclusive);
    let count = open.map(|one| one.machines.len()).filter(|count| *count >= 2).min()?;
    let reach = match count {
        2 => "12.7",
        3 => "4.3",
        FEW => "3.2",
        _ => return None,
    };
    Some(format!(
        "The interval over {count} machines reaches {reach} standard errors to each side; with 8 machines it reaches 2.4. \
         Further machines help more than further blocks."
    ))
}

fn how_far(document: &FleetDocument) -> String {
    let wanted = document.machines_wanted * document.blocks_wanted;
    let keeps =
        |machine: &&FleetMachine| machine.left_out.as_ref().is_none_or(LeftOutFor::keeps_blocks);
    let measured: usize = document
        .machines
        .iter()
        .filter(keeps)
        .flat_map(|machine| &machine.tries)
        .filter(|one| one.state == TryState::Measured)
        .count();
    let state = match document.state {
        FleetState::Unfinished => "is unfinished",
        FleetState::Complete => "is complete",
        FleetState::Short => "has too few machines",
        FleetState::Cancelled => "was cancelled",
    };
    format!(
        "Fleet {} on {} {state}: {measured} of {} measured.",
        document.name,
        document.place,
        counted(wanted as usize, "block")
    )
}

fn machines(document: &FleetDocument) -> Table {
    let mut table = Table::new([
        ("machine", Align::Left),
        ("blocks", Align::Right),
        ("canary", Align::Left),
        ("now", Align::Left),
        ("processor", Align::Left),
    ]);
    for machine in &document.machines {
        let measured = machine.tries.iter().filter(|it| it.state == TryState::Measured).count();
        let canary = machine.tries.iter().rev().find_map(|it| it.canary);
        table.push([
            machine.name.as_str().into(),
            format!("{measured} of {}", document.blocks_wanted).into(),
            canary.map_or(String::new(), |canary| canary_words(&canary)).into(),
            now(machine).into(),
            machine.processor.clone().unwrap_or_default().into(),
        ]);
    }
    table
}

fn canary_words(canary: &Canary) -> String {
    match canary.change {
        Some(change) => format!("{} from its level", signed_percent(change, 1)),
        None => format!("no level yet ({} earlier)", canary.earlier),
    }
}

/// Says what the machine does, by its last try.
fn now(machine: &FleetMachine) -> String {
    if machine.left_out.is_some() {
        return "left out".to_owned();
    }
    let running = machine.tries.iter().find(|one| one.state == TryState::Running);
    match running.or(machine.tries.last()) {
        Some(one) => try_words(one.block, &one.state),
        None => String::new(),
    }
}

/// Says how a try is.
fn try_words(block: u32, state: &TryState) -> String {
    match state {
        TryState::Waiting(reason) if reason.is_empty() => format!("block {block} waits"),
        TryState::Waiting(reason) => format!("block {block} waits ({reason})"),
        TryState::Running => format!("measures block {block}"),
        TryState::Measured => "done".to_owned(),
        TryState::Lost(state) => format!("block {block} was lost ({state})"),
        TryState::Stopped => format!("block {block} was stopped"),
        TryState::Failed(why) => format!("block {block} failed: {why}"),
    }
}

/// Says how a block of a machine is, in the course of a fleet.
pub fn fleet_try_sentence(machine: &str, block: u32, state: &TryState) -> String {
    format!("{machine}: {}", try_words(block, state))
}

/// Says why a machine gets no further blocks.
pub fn fleet_left_out_sentence(machine: &str, why: &LeftOutFor) -> String {
    format!("{machine} {}", left_out_words(why))
}

fn left_out_words(why: &LeftOutFor) -> String {
    match why {
        LeftOutFor::Canary { change, limit } => format!(
            "is set aside, and none of its blocks counts: its canary is {} {} its own level (limit {})",
            percent(change.abs()),
            if *change > 0.0 { "above" } else { "below" },
            percent(*limit)
        ),
        LeftOutFor::NotRestored => {
            "is set aside, and none of its blocks counts: becalm could not put back a setting there; `becalm restore \
             --on` that machine lists it"
                .to_owned()
        }
        LeftOutFor::Node(state) => {
            format!("takes no jobs ({state}); what it has measured counts")
        }
        LeftOutFor::Tries(times) => {
            let times = counted(*times as usize, "job");
            format!("lost {times}; what it has measured counts")
        }
        LeftOutFor::Failed(why) => format!("cannot run the session: {why}"),
    }
}

fn ratios(one: &FleetComparison) -> Table {
    let mut table = Table::new([
        ("machine", Align::Left),
        ("blocks", Align::Right),
        ("change", Align::Right),
        ("interval", Align::Right),
        ("verdict", Align::Left),
    ]);
    let row =
        |name: &str, blocks: String, ratio: Option<RatioInterval>, verdict: Verdict| -> [Cell; 5] {
            let text = ratio.map(|ratio| quantity::ratio(&ratio));
            let (change, interval) =
                text.map(|text| (text.change, text.interval)).unwrap_or_default();
            let word = Cell::of(Role::of(verdict), verdict_word(&one.metric, verdict));
            [name.into(), blocks.into(), change.into(), interval.into(), word]
        };
    for MachineRatio { machine, blocks, ratio, verdict } in &one.machines {
        table.push(row(machine, blocks.to_string(), (*ratio).into(), *verdict));
    }
    if one.machines.len() > 1 {
        let blocks: u32 = one.machines.iter().map(|it| it.blocks).sum();
        let name = format!("all, at {}", confidence(one.confidence));
        table.push(row(&name, blocks.to_string(), one.ratio.into(), one.verdict));
    }
    table
}

fn secondary(others: &[&FleetComparison]) -> Table {
    let mut table = Table::new([
        ("metric", Align::Left),
        ("candidate", Align::Left),
        ("change", Align::Right),
        ("interval", Align::Right),
        ("verdict", Align::Left),
    ]);
    for one in others {
        let Some(ratio): Option<RatioInterval> = one.ratio.into() else { continue };
        let text = quantity::ratio(&ratio);
        table.push([
            one.metric.name.as_str().into(),
            one.candidate.as_str().into(),
            text.change.into(),
            text.interval.into(),
            verdict_word(&one.metric, one.verdict).into(),
        ]);
    }
    table
}

fn levels(document: &FleetDocument, style: &Style) -> Table {
    let mut table = Table::new([
        ("benchmark", Align::Left),
        ("metric", Align::Left),
        ("level", Align::Right),
        ("interval", Align::Right),
        ("machines", Align::Right),
        ("differ by", Align::Right),
    ]);
    for one in &document.levels {
        let ends = [one.low, one.high].into_iter().flatten();
        let scale = Scale::of(&one.metric.unit, ends.chain([one.value]), style.unicode);
        let interval = one.low.zip(one.high).map(|(low, high)| scale.range(low, high));
        table.push([
            one.benchmark.as_str().into(),
            one.metric.name.as_str().into(),
            scale.with_unit(one.value).into(),
            interval.unwrap_or_default().into(),
            one.machines.len().to_string().into(),
            one.deviation.map(|it| percent(it.exp_m1())).unwrap_or_default().into(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use becalm_model::wire::{FLEET_SCHEMA, FleetLevel, FleetTry, MachineLevel, RatioFields};
    use becalm_model::{Metric, metric};

    use super::*;
    use crate::page::tests::{WIDE, say_the_same};

    fn fields(estimate: f64, reach: f64) -> RatioFields {
        let [low, high] = [estimate / reach, estimate * reach];
        Some(RatioInterval { estimate, low, high }).into()
    }

    fn machine(name: &str, tries: &[(u32, TryState)], change: f64) -> FleetMachine {
        let canary = Canary { value: 0.02, earlier: 6, change: Some(change), limit: Some(0.03) };
        let one = |(block, state): &(u32, TryState)| FleetTry {
            block: *block,
            job: Some("12".to_owned()),
            state: state.clone(),
            canary: Some(canary),
        };
        FleetMachine {
            name: name.to_owned(),
            processor: Some("AMD EPYC 7B13".to_owned()),
            kernel: Some("6.12".to_owned()),
            tries: tries.iter().map(one).collect(),
            left_out: None,
        }
    }

    fn document() -> FleetDocument {
        let done = [(1, TryState::Measured), (2, TryState::Measured)];
        let mut off = machine("n4", &[(1, TryState::Stopped)], 0.052);
        off.left_out = Some(LeftOutFor::Canary { change: 0.052, limit: 0.03 });
        let ratio = |name: &str, estimate: f64, verdict| MachineRatio {
            machine: name.to_owned(),
            blocks: 2,
            ratio: fields(estimate, 1.005),
            verdict,
        };
        let wall = Metric::always().into_iter().find(|it| it.name == metric::WALL_TIME).unwrap();
        let comparison = FleetComparison {
            baseline: "old".to_owned(),
            candidate: "new".to_owned(),
            metric: wall,
            primary: true,
            ratio: fields(1.03, 1.05),
            confidence: 0.95,
            verdict: Verdict::Inconclusive,
            deviation: Some(0.02),
            machines: vec![
                ratio("n1", 1.05, Verdict::Slower),
                ratio("n2", 1.04, Verdict::Slower),
                ratio("n3", 1.001, Verdict::Equivalent),
            ],
        };
        FleetDocument {
            schema: FLEET_SCHEMA.to_owned(),
            name: "7".to_owned(),
            place: "slurm:partition=bench".to_owned(),
            arguments: Vec::new(),
            started_at: 1_790_000_000.0,
            machines_wanted: 3,
            blocks_wanted: 2,
            confidence: 0.95,
            margin: 0.01,
            aa: false,
            state: FleetState::Complete,
            machines: vec![
                machine("n1", &done, 0.001),
                machine("n2", &done, -0.004),
                machine("n3", &done, 0.0),
                off,
            ],
            comparisons: vec![comparison],
            levels: Vec::new(),
        }
    }

    #[test]
    fn the_answer_comes_first_and_then_who_agrees() {
        let style = Style { width: 100, colour: false, unicode: true };
        insta::assert_snapshot!(fleet_text(&document(), &style));
    }

    #[test]
    fn every_form_says_the_same() {
        let document = document();
        say_the_same(
            &fleet_text(&document, &WIDE),
            &fleet_html(&document, "1.0"),
            &fleet_markdown(&document),
        );
    }

    #[test]
    fn one_machine_says_nothing_about_others() {
        let mut document = document();
        document.comparisons[0].ratio = None.into();
        document.comparisons[0].machines.truncate(1);
        let text = fleet_text(&document, &WIDE);
        assert!(text.starts_with("Inconclusive for machines of this type: only one"), "{text}");
    }

    #[test]
    fn the_levels_of_a_suite() {
        let mut document = document();
        let metric = document.comparisons.remove(0).metric;
        let machine =
            |name: &str, value| MachineLevel { machine: name.to_owned(), blocks: 2, value };
        document.levels = vec![FleetLevel {
            benchmark: "parse".to_owned(),
            metric,
            value: 0.02,
            low: Some(0.018),
            high: Some(0.0222),
            deviation: Some(0.011),
            machines: vec![machine("n1", 0.0199), machine("n2", 0.0201)],
        }];
        let text = fleet_text(&document, &WIDE);
        let (_, levels) = text.split_once("Levels over machines").unwrap();
        insta::assert_snapshot!(levels.lines().take(3).collect::<Vec<_>>().join("\n"), @r"
        , with their 95 % intervals
          benchmark  metric        level           interval  machines  differ by
          parse      wall_time  20.00 ms  18.00 .. 22.20 ms         2      1.1 %
        ");
    }

    #[test]
    fn machines_of_several_types_are_seen() {
        let mut document = document();
        document.machines[1].kernel = Some("6.1".to_owned());
        let text = fleet_text(&document, &WIDE);
        assert!(text.contains("Warning: the machines have different kernels"), "{text}");
    }
}
