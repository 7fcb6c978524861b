//! `cargo xtask vm`: becalm on real kernels, in virtual machines.
//!
//! QEMU emulates the machines, so neither KVM nor root is needed. Kernels are those of Debian. A test
//! is a function that is given a machine; it starts from a snapshot of the booted guest, so that one
//! costs seconds.

mod acpi;
mod base64;
mod becalm;
mod cache;
mod cpio;
mod deaths;
mod debian;
mod guest;
mod initrd;
mod kernel;
mod lab;
mod profile;
mod ssh;
mod state;
mod tests;

use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use self::cache::Cache;
use self::deaths::{Counted, Deaths};
use self::guest::{AfterUs, CannotTell, Cuts, Depth, Ended, EndedBy, Guest, Manner};
use self::kernel::{Kernel, Series};
use self::lab::{Lab, Place};
use self::profile::{Needs, PROFILES, Profile};
use self::tests::{Body, GROUPS, Test};
use crate::install;

/// Test becalm on real kernels, in virtual machines under QEMU
///
/// Without options: a sample of at most six minutes. Kernels, images and snapshots are kept in
/// `target/vm`, or in the folder that `BECALM_VM_DIR` names.
#[derive(clap::Args, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Run the whole campaign
    #[arg(long)]
    all: bool,
    /// Kill at every system call of a command, where the campaign tries some
    #[arg(long)]
    every: bool,
    /// Cut connections so often, in each of the tests that do it
    #[arg(long, value_name = "COUNT")]
    cuts: Option<u32>,
    /// Choose the moments of these cuts by this number
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Run only tests whose name, `KERNEL PROFILE TEST`, contains this; may be repeated
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Run only on this kernel
    #[arg(long, value_name = "SERIES")]
    kernel: Option<Series>,
    /// A QEMU whose guests also see power management registers; adds the profiles that need it
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    /// Test this static binary instead of building one
    #[arg(long, value_name = "PATH")]
    becalm: Option<PathBuf>,
    /// List the tests and do nothing
    #[arg(long)]
    list: bool,
    /// Leave the machine of the first test that fails running, and stop
    #[arg(long)]
    keep: bool,
    /// Run this script in a fresh guest of the first matching test instead of the test, and print
    /// what it says
    #[arg(long, value_name = "SCRIPT")]
    shell: Option<String>,
}

/// A test on a machine with a kernel.
struct Case {
    series: Series,
    profile: &'static Profile,
    test: &'static Test,
}

impl Case {
    fn name(&self) -> String {
        format!("{} {} {}", self.series, self.profile.name, self.test.name)
    }
}

/// What became of the cases.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    /// Names, with the error.
    pub(crate) failed: Vec<(String, String)>,
    /// Names, with the reason.
    pub(crate) skipped: Vec<(String, String)>,
    /// What was killed by the tests of death.
    pub(crate) deaths: Counted,
}

/// Runs the tests, prints the summary and says whether all passed.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let tally = tests_of(args, Instant::now() + LATEST)?;
    for (name, reason) in &tally.skipped {
        println!("skipped: {name}: {reason}");
    }
    for (name, _) in &tally.failed {
        println!("failed: {name}");
    }
    let (passed, failed, skipped) = (tally.passed, tally.failed.len(), tally.skipped.len());
    println!("{}", tally.deaths);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    Ok(tally.failed.is_empty())
}

/// How long the sample may take before it starts no further test.
const SAMPLE_TIME: Duration = Duration::from_secs(270);

/// How long after the beginning of all tests the sample starts no further one, so that they end in half an hour
/// on two cores.
const LATEST: Duration = Duration::from_secs(20 * 60);

/// Runs the sample, for `cargo xtask test`, which began at `since`.
pub(crate) fn sample(since: Instant) -> Result<Tally> {
    tests_of(&Args::default(), since + LATEST)
}

/// Runs tests; those of a sample start before `latest`.
fn tests_of(args: &Args, latest: Instant) -> Result<Tally> {
    let cases = cases(args);
    let mut tally = Tally::default();
    if args.list {
        for case in &cases {
            println!("{}", case.name());
        }
        return Ok(tally);
    }
    ensure!(!cases.is_empty(), "no test has such a name; --list shows them");
    let mut missing = Vec::new();
    if std::env::consts::ARCH == "x86_64" {
        missing.extend(install::for_vm());
    } else {
        missing.push("an x86_64 machine: what runs in the guest is built here");
    }
    let skip_all = |reason: &str| Tally {
        skipped: cases.iter().map(|case| (case.name(), reason.to_owned())).collect(),
        ..Tally::default()
    };
    if !missing.is_empty() {
        return Ok(skip_all(&format!("needs {}", missing.join(", "))));
    }
    let is_sample = !args.all && args.only.is_empty();
    let time_is_up = "the time of the sample is up; `cargo xtask vm --all` runs it";
    if is_sample && Instant::now() > latest {
        // What guests need takes minutes to build.
        return Ok(skip_all(time_is_up));
    }
    let lab = lab(args)?;
    let mut kernels: Vec<(Series, Result<Kernel>)> = Vec::new();
    let latest = latest.min(Instant::now() + SAMPLE_TIME);
    for case in cases {
        if is_sample && Instant::now() > latest {
            tally.skipped.push((case.name(), time_is_up.to_owned()));
            continue;
        }
        if !kernels.iter().any(|(series, _)| *series == case.series) {
            kernels.push((case.series, Kernel::get(&lab.cache, case.series)));
        }
        let kernel = kernels.iter().find(|(series, _)| *series == case.series);
        match kernel.map(|(_, kernel)| kernel) {
            Some(Ok(kernel)) => {
                let place = Place { lab: &lab, kernel, profile: case.profile };
                if let Some(script) = &args.shell {
                    println!("{}", place.guest()?.run(script)?.text.trim_end());
                    return Ok(tally);
                }
                let goes_on = one(&case, &place, args, &mut tally) || !args.keep;
                tally.deaths = lab.manner.deaths.counted();
                if !goes_on {
                    return Ok(tally);
                }
            }
            Some(Err(error)) => {
                let reason = format!("no kernel: {error:#}");
                tally.skipped.push((case.name(), reason));
            }
            None => unreachable!("it was pushed above"),
        }
    }
    Ok(tally)
}

/// Runs one test and says whether it did not fail.
fn one(case: &Case, place: &Place<'_>, args: &Args, tally: &mut Tally) -> bool {
    let start = Instant::now();
    let before = place.lab.manner.deaths.counted();
    let name = case.name();
    let run = || match case.test.body {
        Body::Guest(test) => in_guest(place, test, args),
        Body::Place(test) => test(place),
    };
    let mut result = run();
    let ended_by = |result: &Result<()>| Some(result.as_ref().err()?.downcast_ref::<Ended>()?.by());
    for again in 1.. {
        let most = match ended_by(&result) {
            None | Some(EndedBy::Panic) => 0,
            // One in some hundred machines ends without a word, of itself or of its kernel. Twice is no chance.
            Some(EndedBy::Unknown) => 1,
            Some(EndedBy::Emulation) => 3,
        };
        if again > most {
            break;
        }
        println!("again            {name}: {:#}", result.expect_err("it ended"));
        result = run();
    }
    if ended_by(&result) == Some(EndedBy::Emulation) {
        result = Err(CannotTell(
            "QEMU failed at a kernel that patches itself, again and again".to_owned(),
        )
        .into());
    }
    let seconds = start.elapsed().as_secs_f64();
    let deaths = match place.lab.manner.deaths.counted().since(before) {
        none if none == Counted::default() => String::new(),
        some => format!(": {some}"),
    };
    match &result {
        Ok(()) => {
            println!("ok      {seconds:>6.1} s  {name}{deaths}");
            tally.passed += 1;
        }
        Err(error) if error.is::<CannotTell>() => {
            println!("skipped {seconds:>6.1} s  {name}");
            tally.skipped.push((name, error.to_string()));
            return true;
        }
        Err(error) => {
            println!("FAILED  {seconds:>6.1} s  {name}{deaths}");
            let error = format!("{error:#}");
            error.lines().for_each(|line| println!("    {line}"));
            tally.failed.push((name, error));
        }
    }
    result.is_ok()
}

fn in_guest(place: &Place<'_>, test: fn(&mut Guest) -> Result<()>, args: &Args) -> Result<()> {
    let mut guest = place.guest()?;
    let result = test(&mut guest).and_then(|()| no_complaints(&guest.console()));
    if result.as_ref().is_err_and(|error| !error.is::<CannotTell>()) {
        let console = guest.console();
        if !console.trim().is_empty() {
            println!("console:\n{}", console.trim_end());
        }
        // Warnings do not reach the console.
        if let Ok(warned) = guest.run("dmesg | grep -A 45 'cut here' | tail -100")
            && !warned.text.trim().is_empty()
        {
            println!("the kernel warned:\n{}", warned.text.trim_end());
        }
        if args.keep {
            let (process, folder) = guest.leave();
            println!("process {process} is left running; its sockets are in {}", folder.display());
        }
    }
    result
}

/// A kernel that complains has found a bug, in itself or in how it is used.
fn no_complaints(console: &str) -> Result<()> {
    let complaints =
        ["Call Trace", "BUG:", "WARNING: CPU:", "Oops", "soft lockup", "rcu_preempt detected"];
    let complaint = complaints.iter().find(|complaint| console.contains(*complaint));
    ensure!(complaint.is_none(), "the kernel says {}", complaint.unwrap_or(&""));
    Ok(())
}

fn lab(args: &Args) -> Result<Lab> {
    let cache = Cache::open()?;
    let qemu = match &args.qemu {
        Some(path) => {
            path.canonicalize().with_context(|| format!("no QEMU at {}", path.display()))?
        }
        None => install::find("qemu-system-x86_64").context("qemu-system-x86_64 is not here")?,
    };
    let becalm = match &args.becalm {
        Some(path) => path.clone(),
        None => becalm::build(&cache)?,
    };
    let after_us = if args.keep { AfterUs::Stays } else { AfterUs::Ends };
    let depth = match (args.every, args.all) {
        (true, _) => Depth::Every,
        (false, true) => Depth::Whole,
        (false, false) => Depth::Sample,
    };
    let programs = cache.path("programs");
    becalm::write_disk(&cache, &becalm, &programs)?;
    let cuts = Cuts { count: args.cuts, seed: args.seed };
    let manner = Manner { depth, cuts, after_us, deaths: Rc::new(Deaths::default()) };
    Ok(Lab { cache, qemu, is_patched: args.qemu.is_some(), manner, programs })
}

/// Returns what is to be run: by kernel and machine, so that a snapshot is used while it is in memory.
fn cases(args: &Args) -> Vec<Case> {
    let mut cases = Vec::new();
    // The most important first: should time run out, that is what has been tested.
    for series in Series::ALL.into_iter().rev() {
        for profile in PROFILES {
            let is_there = profile.runs_on(series)
                && (profile.needs == Needs::Stock || args.qemu.is_some() || args.list);
            for (group, test) in
                GROUPS.iter().flat_map(|group| group.tests.iter().map(move |test| (group, test)))
            {
                let is_sampled = group.sampled_on.contains(&series) && test.is_in_sample(profile);
                let case = Case { series, profile, test };
                let is_wanted = is_there
                    && group.kernels.contains(&series)
                    && test.machines.has(profile)
                    && args.kernel.is_none_or(|wanted| wanted == series)
                    && if args.only.is_empty() {
                        args.all || args.list || is_sampled
                    } else {
                        let name = case.name();
                        args.only.iter().any(|text| name.contains(text.as_str()))
                    };
                if is_wanted {
                    cases.push(case);
                }
            }
        }
    }
    cases
}
