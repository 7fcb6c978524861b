//! What interrupts the CPUs: a table, the lengths, and the order of the CPUs.

use std::fmt::Write as _;

use becalm_model::wire::{
    LengthClass, ProbeDocument, ProbedCpu, RankedCpu, TracerCounters, Worded,
};
use becalm_model::{Unit, place};

use crate::page::{ELSEWHERE, Page, caption};
use crate::quantity::{NBSP, Scale, count, percent};
use crate::style::{Role, Style};
use crate::table::{Cell, Table};
use crate::width::{columns, pad_left};

/// Of how many CPUs the histogram is drawn: the quietest and the noisiest ones.
const DRAWN: usize = 4;

/// Draws a probe.
pub fn probe_text(document: &ProbeDocument, style: &Style) -> String {
    report(document, style).finish()
}

/// Writes the same as a web page, made by this version of becalm.
pub fn probe_html(document: &ProbeDocument, version: &str) -> String {
    report(document, &ELSEWHERE).html(version)
}

/// Writes the same as Markdown.
pub fn probe_markdown(document: &ProbeDocument) -> String {
    report(document, &ELSEWHERE).markdown()
}

fn report<'a>(document: &ProbeDocument, style: &'a Style) -> Page<'a> {
    let mut page = Page::new(style);
    page.say_as(Role::Heading, &headline(document));
    page.say(&terms(document, style));
    page.gap();
    page.table(&sums(document, style));
    page.section("Interruptions per second, by length");
    page.table(&classes(document, style));
    if document.cpus.iter().any(|cpu| cpu.counters.is_some()) {
        page.section("Causes per second, as the kernel counted them");
        page.table(&counters(document));
    }
    if let Some(smis) = document.smis {
        page.gap();
        page.say(&match smis {
            0 => "No system management interrupt took the CPUs during the probe.".to_owned(),
            1 => "Firmware took all CPUs once during the probe (a system management interrupt).".to_owned(),
            _ => format!(
                "Firmware took all CPUs {smis} times during the probe (system management interrupts)."
            ),
        });
    }
    for cpu in drawn(document) {
        page.section(&format!("Lengths on CPU {}", cpu.cpu));
        page.drawn(&histogram(cpu, style));
    }
    if document.ranking.len() > 1 {
        page.section("Order of the CPUs");
        for sentence in order(&document.ranking) {
            page.indented(&sentence);
        }
    }
    if let Some(place) = &document.saved {
        page.gap();
        page.say_as(
            Role::Hint,
            &format!(
                "Saved to {place}: until the next boot, becalm takes it into account when it \
                 chooses CPUs."
            ),
        );
    }
    page.list("Limits", document.limits.iter().map(Worded::text));
    page
}

fn headline(document: &ProbeDocument) -> String {
    let share = |cpu: &RankedCpu| format!("{} (CPU {})", percent(cpu.lost_share), cpu.cpu);
    match document.ranking.as_slice() {
        [] => "No CPU was probed.".to_owned(),
        [only] => format!("Interruptions take {} of the time.", share(only)),
        [first, .., last] => {
            format!("Interruptions take {} to {} of the time.", share(first), share(last))
        }
    }
}

fn terms(document: &ProbeDocument, style: &Style) -> String {
    let who = match document.source.as_str() {
        "tracer" => "By the kernel's osnoise tracer".to_owned(),
        "hwlat" => {
            return format!(
                "By the kernel's hwlat tracer, with interrupts disabled, so only firmware or a \
                 hypervisor can interrupt it. Of each stretch of 50 ms it reports only the \
                 longest gap of {} or more, so the time lost is a lower bound.",
                edge(document.threshold, style)
            );
        }
        _ => "By a thread that reads the clock without a pause".to_owned(),
    };
    let class = match document.scheduler.as_str() {
        "other" => "in the normal scheduling class, where other programs interrupt it".to_owned(),
        class => format!(
            "as a real-time task ({class}): only interrupts, the kernel and the hypervisor interrupt it"
        ),
    };
    let mut text = format!(
        "{who}, {class}. Gaps of {} or more count as interruptions",
        edge(document.threshold, style)
    );
    let steps: Vec<f64> = document.cpus.iter().filter_map(|cpu| cpu.step).collect();
    if let Some(step) = steps.iter().copied().reduce(f64::max) {
        let _ = write!(text, "; the reader's own step is {}", edge(step, style));
    }
    text.push('.');
    if document.busy_siblings {
        text.push_str(" The SMT siblings were kept busy.");
    }
    text
}

fn sums(document: &ProbeDocument, style: &Style) -> Table {
    let has_steal = document.cpus.iter().any(|cpu| cpu.steal.is_some_and(|steal| steal > 0.0));
    let has_preemptions = document.cpus.iter().any(|cpu| cpu.preemptions.is_some());
    let mut titles = vec!["watched", "lost", "interruptions", "longest"];
    titles.extend(has_preemptions.then_some("preempted"));
    titles.extend(has_steal.then_some("steal"));
    let mut table = Table::of_numbers("CPU", titles);
    for cpu in &document.cpus {
        let time =
            |seconds: f64| Scale::of(&Unit::Second, [seconds], style.unicode).with_unit(seconds);
        let mut row: Vec<Cell> = vec![
            cpu.cpu.to_string().into(),
            time(cpu.duration).into(),
            percent(cpu.lost_share).into(),
            format!("{}/s", rate(cpu.per_second)).into(),
            if cpu.interruptions > 0 { time(cpu.longest) } else { "-".to_owned() }.into(),
        ];
        if has_preemptions {
            row.push(cpu.preemptions.map_or("-".to_owned(), |n| n.to_string()).into());
        }
        if has_steal {
            let share = cpu.steal.filter(|_| cpu.duration > 0.0).map(|steal| steal / cpu.duration);
            row.push(share.map_or("-".to_owned(), percent).into());
        }
        table.push(row);
    }
    table
}

fn classes(document: &ProbeDocument, style: &Style) -> Table {
    let names = document.cpus.first().map_or(&[][..], |cpu| &cpu.classes);
    let mut table = Table::of_numbers("CPU", names.iter().map(|class| class_name(class, style)));
    for cpu in &document.cpus {
        let rates = cpu.classes.iter().map(|class| Cell::from(rate(class.per_second)));
        table.push([Cell::from(cpu.cpu.to_string())].into_iter().chain(rates));
    }
    table
}

fn class_name(class: &LengthClass, style: &Style) -> String {
    let Some(to) = class.to else { return format!("{}+", edge(class.from, style)) };
    // In the unit of the end, which leaves one digit behind the point at most.
    let from = class.from / Scale::of(&Unit::Second, [to], style.unicode).factor();
    let from = if from < 0.95 && from > 0.0 { format!("{from:.1}") } else { format!("{from:.0}") };
    format!("{from}-{}", edge(to, style))
}

fn counters(document: &ProbeDocument) -> Table {
    let titles = ["interrupts", "softirqs", "threads", "NMIs", "nothing the kernel saw"];
    let mut table = Table::of_numbers("CPU", titles);
    for cpu in &document.cpus {
        let Some(TracerCounters { hardware, nmi, irq, softirq, thread }) = cpu.counters else {
            continue;
        };
        let shown = |n: u64| Cell::from(rate(n as f64 / cpu.duration.max(f64::MIN_POSITIVE)));
        let name = Cell::from(cpu.cpu.to_string());
        table.push([name].into_iter().chain([irq, softirq, thread, nmi, hardware].map(shown)));
    }
    table
}

/// Writes a rate with two significant digits, and no digit that the number of events does not
/// support.
fn rate(per_second: f64) -> String {
    match per_second {
        0.0 => "0".to_owned(),
        rate if rate < 0.095 => format!("{rate:.3}"),
        rate if rate < 0.95 => format!("{rate:.2}"),
        rate if rate < 9.5 => format!("{rate:.1}"),
        rate => format!("{rate:.0}"),
    }
}

/// Returns the CPUs whose histogram is drawn, in rising order.
fn drawn(document: &ProbeDocument) -> Vec<&ProbedCpu> {
    let ranks: Vec<u32> = document.ranking.iter().map(|ranked| ranked.cpu).collect();
    let half = DRAWN / 2;
    let chosen = |cpu: u32| {
        ranks.iter().position(|ranked| *ranked == cpu).is_some_and(|place| {
            place < half || place + half >= ranks.len() || ranks.len() <= DRAWN
        })
    };
    document.cpus.iter().filter(|cpu| chosen(cpu.cpu) && !cpu.histogram.is_empty()).collect()
}

/// Draws one line for each bin: where it begins, how many gaps, how much of the time they took, and a
/// bar for the number, by its logarithm, because short gaps are thousands of times as many; says so below.
fn histogram(cpu: &ProbedCpu, style: &Style) -> String {
    let edges: Vec<String> = cpu.histogram.iter().map(|bin| edge(bin.from, style)).collect();
    let counts: Vec<String> = cpu.histogram.iter().map(|bin| bin.count.to_string()).collect();
    let shares: Vec<String> = cpu
        .histogram
        .iter()
        .map(|bin| match bin.count {
            0 => String::new(),
            _ => percent(bin.lost / cpu.duration.max(f64::MIN_POSITIVE)).replace(NBSP, " "),
        })
        .collect();
    let widest = |texts: &[String]| texts.iter().map(|text| columns(text)).max().unwrap_or(0);
    let (first, second, third) = (widest(&edges), widest(&counts), widest(&shares));
    let room = style.width.saturating_sub(first + second + third + 10).max(8);
    let most = cpu.histogram.iter().map(|bin| bin.count).max().unwrap_or(0);
    let mut out = String::new();
    for (index, bin) in cpu.histogram.iter().enumerate() {
        let bar = style.pick("█", "#").repeat(bar(bin.count, most, room));
        let line = format!(
            "  {}  {}  {}  {bar}",
            pad_left(&edges[index], first),
            pad_left(&counts[index], second),
            pad_left(&shares[index], third),
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push_str(&caption("bar length: logarithm of the number", 2, style));
    out
}

fn bar(count: u64, most: u64, room: usize) -> usize {
    if count == 0 {
        return 0;
    }
    let height = |n: u64| (n as f64).ln_1p();
    place((height(count) / height(most) * room as f64).round()).max(1)
}

/// Writes a time as a whole number: `5 us`, `200 ms`.
fn edge(seconds: f64, style: &Style) -> String {
    let scale = Scale::of(&Unit::Second, [seconds], style.unicode);
    format!("{:.0} {}", seconds / scale.factor(), scale.unit())
}

/// Says which CPUs are quieter, and which cannot be distinguished.
fn order(ranking: &[RankedCpu]) -> Vec<String> {
    let tiers = ranking.iter().map(|ranked| ranked.tier).max().unwrap_or(0) + 1;
    if tiers == 1 {
        return vec![format!(
            "This probe cannot distinguish {}: their intervals overlap, or they differ by less \
             than 0.01{NBSP}% of the time.",
            count(ranking.len(), "CPU")
        )];
    }
    (0..tiers)
        .map(|tier| {
            let members: Vec<String> = ranking
                .iter()
                .filter(|ranked| ranked.tier == tier)
                .map(|ranked| format!("CPU{NBSP}{}{}", ranked.cpu, interval(ranked)))
                .collect();
            let name = if tier == 0 { "Quietest" } else { "Noisier" };
            format!("{name}: {}.", members.join(", "))
        })
        .collect()
}

fn interval(ranked: &RankedCpu) -> String {
    match (ranked.low, ranked.high) {
        (Some(low), Some(high)) => {
            let (low, high) = (percent(low), percent(high));
            format!(" ({} .. {high})", low.trim_end_matches(['%', NBSP]))
        }
        _ => format!(" ({})", percent(ranked.lost_share)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::Limit;
    use becalm_model::wire::{LengthBin, PROBE_SCHEMA, worded};

    use crate::notes;
    use crate::page::tests::{WIDE, say_the_same};

    fn class(from: f64, to: Option<f64>, count: u64) -> LengthClass {
        LengthClass { from, to, count, per_second: count as f64 / 2.0, lost_share: 0.0 }
    }

    fn cpu(cpu: u32, share: f64, counts: [u64; 3]) -> ProbedCpu {
        let [short, middle, long] = counts;
        let bin = |from: f64, count: u64| LengthBin { from, count, lost: from * count as f64 };
        ProbedCpu {
            cpu,
            duration: 2.0,
            step: Some(36e-9),
            lost: share * 2.0,
            lost_share: share,
            interruptions: short + middle + long,
            per_second: (short + middle + long) as f64 / 2.0,
            longest: 2.5e-3,
            classes: vec![
                class(5e-6, Some(1e-5), short),
                class(1e-5, Some(1e-4), middle),
                class(1e-4, None, long),
            ],
            histogram: vec![bin(5e-6, short), bin(1e-5, middle), bin(2e-5, 0), bin(2e-3, long)],
            preemptions: Some(3),
            ..ProbedCpu::default()
        }
    }

    fn ranked(cpu: u32, tier: usize, share: f64) -> RankedCpu {
        let (low, high) = (Some(share * 0.9), Some(share * 1.1));
        RankedCpu { cpu, tier, lost_share: share, low, high }
    }

    fn document() -> ProbeDocument {
        ProbeDocument {
            schema: PROBE_SCHEMA.to_owned(),
            source: "clock".to_owned(),
            threshold: 5e-6,
            scheduler: "fifo:1".to_owned(),
            cpus: vec![cpu(0, 0.02, [900, 100, 12]), cpu(1, 0.001, [400, 3, 1])],
            ranking: vec![ranked(1, 0, 0.001), ranked(0, 1, 0.02)],
            saved: Some("/var/lib/becalm/cpu-noise.json".to_owned()),
            limits: worded(&[Limit::text("Something could not be done.")], notes::limit),
            ..ProbeDocument::default()
        }
    }

    #[test]
    fn a_probe_is_told_from_sums_to_lengths_to_order() {
        insta::assert_snapshot!(probe_text(&document(), &Style::PLAIN), @r"
        Interruptions take 0.1 % (CPU 1) to 2 % (CPU 0) of the time.
        By a thread that reads the clock without a pause, as a real-time task (fifo:1):
        only interrupts, the kernel and the hypervisor interrupt it. Gaps of 5 us or
        more count as interruptions; the reader's own step is 36 ns.

          CPU  watched   lost  interruptions   longest  preempted
          0    2.000 s    2 %          506/s  2.500 ms          3
          1    2.000 s  0.1 %          202/s  2.500 ms          3

        Interruptions per second, by length
          CPU  5-10 us  10-100 us  100 us+
          0        450         50      6.0
          1        200        1.5     0.50

        Lengths on CPU 0
           5 us  900  0.23 %  ########################################################
          10 us  100  0.05 %  ######################################
          20 us    0
           2 ms   12   1.2 %  #####################
          bar length: logarithm of the number

        Lengths on CPU 1
           5 us  400     0.1 %  ######################################################
          10 us    3  0.0015 %  ############
          20 us    0
           2 ms    1     0.1 %  ######
          bar length: logarithm of the number

        Order of the CPUs
          Quietest: CPU 1 (0.09 .. 0.11 %).
          Noisier: CPU 0 (1.8 .. 2.2 %).

        Saved to /var/lib/becalm/cpu-noise.json: until the next boot, becalm takes it
        into account when it chooses CPUs.

        Limits
          - Something could not be done.
        ");
    }

    #[test]
    fn a_page_and_a_review_say_the_same() {
        let document = document();
        let text = probe_text(&document, &WIDE);
        say_the_same(&text, &probe_html(&document, "1.0"), &probe_markdown(&document));
    }

    #[test]
    fn the_tracer_counts_by_kind_and_steal_has_a_column_where_there_is_any() {
        let counters = TracerCounters { hardware: 2, nmi: 0, irq: 500, softirq: 20, thread: 4 };
        let mut document = document();
        document.source = "tracer".to_owned();
        document.busy_siblings = true;
        for cpu in &mut document.cpus {
            cpu.counters = Some(counters);
            cpu.preemptions = None;
            cpu.step = None;
            cpu.steal = Some(0.02);
        }
        let text = probe_text(&document, &Style::PLAIN);
        for part in [
            "By the kernel's osnoise tracer",
            "siblings were kept busy",
            "nothing the kernel saw",
            "steal",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(!text.contains("preempted") && !text.contains("own step"), "{text}");
    }

    #[test]
    fn cpus_that_cannot_be_told_apart_are_said_to_be() {
        let mut document = document();
        document.ranking.iter_mut().for_each(|ranked| ranked.tier = 0);
        let text = probe_text(&document, &Style::PLAIN);
        assert!(text.contains("cannot distinguish 2 CPUs"), "{text}");
    }

    #[test]
    fn of_many_cpus_the_quietest_and_the_noisiest_are_drawn() {
        let mut document = document();
        document.cpus = (0..9).map(|id| cpu(id, 0.01, [1, 1, 1])).collect();
        document.ranking = (0..9).rev().map(|id| ranked(id, 0, 0.01)).collect();
        let ids: Vec<_> = drawn(&document).iter().map(|cpu| cpu.cpu).collect();
        assert_eq!(ids, [0, 1, 7, 8]);
    }

    #[test]
    fn a_rate_has_as_many_digits_as_can_be_meant() {
        let check = |rate_, text| assert_eq!(rate(rate_), text);
        check(0.0, "0");
        check(0.05, "0.050");
        check(0.5, "0.50");
        check(4.26, "4.3");
        check(250.4, "250");
    }
}
