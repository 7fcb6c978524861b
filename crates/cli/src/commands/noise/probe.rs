//! `becalm noise probe`: what interrupts the CPUs, and which of them lose the least time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use becalm_lab::probe::{
    Class, CpuNoise, Hwlat, ProbeError, Siblings, Source, Terms, Tracer, Wish, document,
    probe_clock,
};
use becalm_machine::{Leases, NoiseRanking, SmiReader, SysRoot, Topology};
use becalm_model::terms::TuneWait;
use becalm_model::wire::{CpuNoiseDocument, ProbeDocument, worded};
use becalm_model::{Change, CpuSet, Limit, ProbeLimit, parse_duration};
use becalm_report::{WORDS, probe_html, probe_markdown, probe_text};
use becalm_runner::Interrupt;
use becalm_session::{Listener, Tuned};

use crate::error::{CommandError, given_up};
use crate::exit::Exit;
use crate::flags::{ElsewhereFlags, ReportFlags, checked};
use crate::measuring::{interrupt, with_listener};
use crate::rights::{Rights, is_root_lent};
use crate::ui::Ui;

/// A shorter probe has too few readings in each of its windows.
const SHORTEST: Duration = Duration::from_millis(50);

/// A threshold below this many steps of the reader would count the steps themselves.
const STEPS: f64 = 3.0;

/// Measure what interrupts each CPU: how often, how long, and which CPUs lose the least time
///
/// A thread that only reads the clock runs on one CPU after the other: every gap between two
/// readings is an interruption. If the kernel has the osnoise tracer, root uses that instead.
/// becalm saves the order of the CPUs, and takes it into account when it chooses CPUs, until the
/// next boot.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Probe these CPUs [default: all that becalm may use]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuSet>,

    /// How long to watch each CPU
    #[arg(long, value_name = "PER_CPU", value_parser = duration, default_value = "2s")]
    duration: Duration,

    /// Shortest gap between two readings that counts as an interruption
    #[arg(long, value_name = "DURATION", value_parser = threshold, default_value = "5us")]
    threshold: Duration,

    /// How to look: `auto` (the kernel's osnoise tracer if it can be used, else the clock),
    /// `clock`, `tracer`, or `hwlat` (the kernel's hwlat tracer, which reads with interrupts
    /// disabled and so sees only firmware and hypervisor)
    #[arg(long, value_enum, default_value_t = SourceFlag::Auto)]
    source: SourceFlag,

    /// Scheduling class of the reader: `auto` (fifo if permitted), `fifo` (only interrupts, the
    /// kernel and the hypervisor can interrupt it) or `other` (other programs can, too)
    #[arg(long, value_enum, default_value_t = ClassFlag::Auto)]
    scheduler: ClassFlag,

    /// Keep the SMT siblings of the probed CPU busy
    #[arg(long)]
    busy_siblings: bool,

    /// Do not save the order of the CPUs
    #[arg(long)]
    no_save: bool,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    report: ReportFlags,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SourceFlag {
    /// The tracer if it can be used, else the clock
    Auto,
    /// A thread that reads the clock
    Clock,
    /// The kernel's osnoise tracer
    Tracer,
    /// The kernel's hwlat tracer
    Hwlat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ClassFlag {
    /// `SCHED_FIFO` if permitted
    Auto,
    /// `SCHED_FIFO`
    Fifo,
    /// The normal class
    Other,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let root = SysRoot::default();
    let topology = crate::topology::read(&root)?;
    let mut limits: Vec<Limit> = Vec::new();
    if args.threshold > args.duration {
        return Err(CommandError::usage(
            "--threshold is longer than --duration, so no gap could reach it",
        ));
    }
    if !is_root_lent() {
        args.report.check()?;
    }
    // Until the end no other becalm starts a measurement on these CPUs.
    let (cpus, _leases) = lease(args.cpus.as_ref(), &root, &topology, &mut limits)?;
    let terms = terms(args, cpus, &root, &topology, &mut limits)?;
    let interrupt = interrupt()?;
    let probe = Probe { root: &root, topology: &topology, terms: &terms, interrupt, ui };
    let firmware = terms.cpus.first().and_then(|cpu| SmiReader::open(&root, cpu, Duration::MAX));
    let smis = || firmware.as_ref().and_then(SmiReader::read);
    let before = smis();
    let (source, noise) = probe.by(args.source, &mut limits)?;
    let smis = smis().zip(before).and_then(|(after, before)| after.checked_sub(before));
    ui.progress_line("");
    check_step(&noise, &terms)?;
    let signal = interrupt.signal();
    if signal.is_some() {
        limits.push(ProbeLimit::ProbeStopped.into());
    }
    let mut document = document(source, &terms, &noise, worded(&limits, WORDS.limit));
    document.smis = smis;
    // What firmware takes is no order of all that interrupts.
    if !args.no_save && signal.is_none() && source != Source::Hwlat {
        save(&root, &mut document, ui);
    }
    if args.report.is_asked() {
        // What root was needed for is done; the files are the user's.
        Rights::User.take(false)?;
    }
    args.report
        .write(|| probe_html(&document, env!("CARGO_PKG_VERSION")), || probe_markdown(&document))?;
    ui.print_either(args.json, &document, |style| probe_text(&document, style))?;
    Ok(signal.map_or(Exit::Done, Exit::Signal))
}

/// Leases the CPUs to probe: those given, or all on which no other becalm measures.
fn lease(
    given: Option<&CpuSet>,
    root: &SysRoot,
    topology: &Topology,
    limits: &mut Vec<Limit>,
) -> Result<(CpuSet, Vec<Leases>), CommandError> {
    let allowed = &topology.allowed;
    let cpus = given.unwrap_or(allowed);
    if cpus.is_empty() {
        return Err(CommandError::usage(format!(
            "--cpus names no CPU; the CPUs that becalm may use are {allowed}"
        )));
    }
    if !cpus.difference(allowed).is_empty() {
        return Err(CommandError::usage(format!(
            "--cpus {cpus}: the CPUs that becalm may use are {allowed}"
        )));
    }
    let (mut ours, mut leases, mut taken) = (CpuSet::new(), Vec::new(), CpuSet::new());
    for cpu in cpus.iter() {
        match Leases::take(root, &CpuSet::from_iter([cpu])) {
            Ok(lease) => {
                ours.insert(cpu);
                leases.push(lease);
            }
            Err(_) => {
                taken.insert(cpu);
            }
        }
    }
    if ours.is_empty() || given.is_some() && !taken.is_empty() {
        let hint =
            if given.is_some() { "--cpus chooses other CPUs to probe" } else { "try again later" };
        return Err(CommandError::measure(format!(
            "another becalm is measuring on CPU {taken}, and probing would disturb it"
        ))
        .hint(hint));
    }
    if !taken.is_empty() {
        limits.push(ProbeLimit::CpusLeftOut { cpus: taken }.into());
    }
    Ok((ours, leases))
}

/// Settles how to probe, and notes what is not possible.
fn terms(
    args: &Args,
    cpus: CpuSet,
    root: &SysRoot,
    topology: &Topology,
    limits: &mut Vec<Limit>,
) -> Result<Terms, CommandError> {
    let wish = match args.scheduler {
        // It is the kernel's own thread that reads, with interrupts switched off.
        _ if args.source == SourceFlag::Hwlat => Wish::Other,
        ClassFlag::Auto => Wish::Auto,
        ClassFlag::Fifo => Wish::Fifo,
        ClassFlag::Other => Wish::Other,
    };
    let (class, why) = Class::settle(root, wish);
    match (wish, why) {
        (Wish::Fifo, Some(why)) => {
            return Err(CommandError::measure(format!("--scheduler fifo: {why}")).hint(
                "--scheduler other needs no privileges; it also counts interruptions by \
                     ordinary programs",
            ));
        }
        (_, Some(error)) => limits.push(ProbeLimit::NotRealTime { error }.into()),
        (_, None) => {}
    }
    if topology.allowed.len() == 1 {
        limits.push(ProbeLimit::ReaderSharesCpu.into());
    }
    let siblings = if args.busy_siblings { Siblings::Busy } else { Siblings::AsTheyAre };
    if args.busy_siblings {
        limits.extend(siblings_limit(&cpus, topology));
    }
    Ok(Terms { cpus, duration: args.duration, threshold: args.threshold, class, siblings })
}

/// Says which CPUs have no sibling to keep busy.
fn siblings_limit(cpus: &CpuSet, topology: &Topology) -> Option<Limit> {
    let has = |cpu| !topology.siblings_of(cpu).intersection(&topology.allowed).is_empty();
    let without: CpuSet = cpus.iter().filter(|cpu| !has(*cpu)).collect();
    (!without.is_empty()).then(|| ProbeLimit::NoSiblings { cpus: without }.into())
}

/// A probe that is about to begin.
struct Probe<'a> {
    root: &'a SysRoot,
    topology: &'a Topology,
    terms: &'a Terms,
    interrupt: &'static Interrupt,
    ui: &'a Ui,
}

impl Probe<'_> {
    /// Probes by the source that was chosen, or by the better available one.
    fn by(
        &self,
        source: SourceFlag,
        limits: &mut Vec<Limit>,
    ) -> Result<(Source, Vec<CpuNoise>), CommandError> {
        if source == SourceFlag::Hwlat {
            let failed = |no: NoTracer| match no {
                NoTracer::Unusable(why) => CommandError::measure(format!("--source hwlat: {why}")),
                NoTracer::Failed(error) => error,
            };
            return Ok((Source::Hwlat, self.by_hwlat().map_err(failed)?));
        }
        if source != SourceFlag::Clock {
            match self.by_tracer() {
                Ok((noise, further)) => {
                    limits.extend(further.map(Limit::from));
                    return Ok((Source::Tracer, noise));
                }
                Err(NoTracer::Unusable(error)) if source == SourceFlag::Auto => {
                    limits.push(ProbeLimit::NoTracer { error }.into());
                }
                Err(NoTracer::Unusable(why)) => {
                    return Err(CommandError::measure(format!("--source tracer: {why}"))
                        .hint("--source clock needs no tracer"));
                }
                Err(NoTracer::Failed(error)) => return Err(error),
            }
        }
        let noise =
            probe_clock(self.root, self.topology, self.terms, self.interrupt, &mut |share| {
                self.progress(share);
            });
        Ok((Source::Clock, noise.map_err(CommandError::measure)?))
    }

    /// Probes by the tracer. Everything that it changes on the machine is put back before this
    /// returns.
    fn by_tracer(&self) -> Result<(Vec<CpuNoise>, Option<ProbeLimit>), NoTracer> {
        let tracer = Tracer::find(self.root).map_err(NoTracer::Unusable)?;
        tracer.plan(self.root, self.terms).map_err(NoTracer::Unusable)?;
        self.tuned(&|| tracer.plan(self.root, self.terms), &|| {
            let (root, topology) = (self.root, self.topology);
            tracer.probe(root, topology, self.terms, self.interrupt, &mut |share| {
                self.progress(share);
            })
        })
    }

    /// The same by the hwlat tracer.
    fn by_hwlat(&self) -> Result<Vec<CpuNoise>, NoTracer> {
        let tracer = Hwlat::find(self.root).map_err(NoTracer::Unusable)?;
        tracer.plan(self.root, self.terms).map_err(NoTracer::Unusable)?;
        self.tuned(&|| tracer.plan(self.root, self.terms), &|| {
            tracer.probe(self.root, self.terms, self.interrupt, &mut |share| self.progress(share))
        })
    }

    /// Makes the changes of a plan, probes, and puts everything back.
    fn tuned<T>(
        &self,
        plan: &dyn Fn() -> Result<Vec<Change>, String>,
        probe: &dyn Fn() -> Result<T, ProbeError>,
    ) -> Result<T, NoTracer> {
        with_listener(self.ui, |listener| self.tuned_with(plan, probe, listener))
    }

    fn tuned_with<T>(
        &self,
        plan: &dyn Fn() -> Result<Vec<Change>, String>,
        probe: &dyn Fn() -> Result<T, ProbeError>,
        listener: Listener<'_>,
    ) -> Result<T, NoTracer> {
        let (tuned, _) =
            Tuned::begin(self.root, "becalm noise probe", TuneWait::No, self.interrupt, listener)
                .map_err(|error| NoTracer::Unusable(error.to_string()))?;
        // Only now, with the lock held, are the values those of the untouched machine.
        let changes = plan().map_err(NoTracer::Unusable)?;
        let (tuned, applied) = tuned
            .attempt(|tuned| tuned.apply(&changes))
            .map_err(|error| NoTracer::Failed(given_up(error)))?;
        let result = match applied.iter().find(|applied| applied.is_failure()) {
            Some(failure) => {
                Err(NoTracer::Unusable(format!("{} could not be set", failure.change.target)))
            }
            None => probe().map_err(|error| NoTracer::Failed(CommandError::measure(error))),
        };
        self.ui.progress_line("");
        let is_restored = tuned.finish().map_err(|error| NoTracer::Failed(error.into()))?;
        if !is_restored {
            let why = "the tracer's settings were changed during the probe";
            return Err(NoTracer::Failed(CommandError::not_restored(why)));
        }
        result
    }

    fn progress(&self, share: f64) {
        self.ui.progress_line(&format!("Probing: {:.0} %", share * 100.0));
    }
}

/// Why the tracer gave nothing.
enum NoTracer {
    /// It cannot be used here.
    Unusable(String),
    /// It failed while probing.
    Failed(CommandError),
}

/// Refuses a threshold within reach of the reader's own steps.
fn check_step(noise: &[CpuNoise], terms: &Terms) -> Result<(), CommandError> {
    let steps = noise.iter().filter_map(|noise| noise.gaps().step());
    let Some(step) = steps.reduce(f64::max) else { return Ok(()) };
    if step * STEPS <= terms.threshold.as_secs_f64() {
        return Ok(());
    }
    Err(CommandError::measure(format!(
        "reading the clock takes {:.0} ns here, so gaps of {:.0} ns cannot be distinguished from \
         the reader's own steps",
        step * 1e9,
        terms.threshold.as_secs_f64() * 1e9
    ))
    .hint(format!("use --threshold {:.0}ns or more", (step * STEPS * 1e9).ceil())))
}

/// Saves the ranking for the choice of CPUs. A failure to save it is only worth a warning.
fn save(root: &SysRoot, document: &mut ProbeDocument, ui: &Ui) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let ranking = CpuNoiseDocument {
        measured_at: now.as_secs(),
        source: document.source.clone(),
        scheduler: document.scheduler.clone(),
        threshold: document.threshold,
        busy_siblings: document.busy_siblings,
        cpus: document.ranking.clone(),
        ..CpuNoiseDocument::default()
    };
    match NoiseRanking::save(root, ranking) {
        Ok(place) => document.saved = Some(place.display().to_string()),
        Err(error) => ui.warn(format!("the order of the CPUs could not be saved: {error}")),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let why = "a probe takes at least 50ms on each CPU";
    checked(parse_duration(text), |duration| *duration >= SHORTEST, why)
}

fn threshold(text: &str) -> Result<Duration, String> {
    let why = "with a threshold of zero, every reading would be an interruption";
    checked(parse_duration(text), |threshold| !threshold.is_zero(), why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_lab::probe::THRESHOLD;

    #[test]
    fn a_probe_has_some_length_and_a_threshold() {
        assert_eq!(duration("2s"), Ok(Duration::from_secs(2)));
        assert!(duration("10ms").unwrap_err().contains("at least 50ms"));
        assert_eq!(threshold("5us"), Ok(THRESHOLD));
        assert!(threshold("0").is_err() && threshold("fast").is_err());
    }
}
