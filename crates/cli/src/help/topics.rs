//! `becalm help TOPIC`: a concept on one screen.

/// A concept and its page.
const TOPICS: [(&str, &str); 4] =
    [("verdict", VERDICT), ("margin", MARGIN), ("noise", NOISE), ("limits", LIMITS)];

/// Returns the page of a concept.
pub(crate) fn topic(name: &str) -> Option<&'static str> {
    TOPICS.iter().find(|(topic, _)| *topic == name).map(|(_, page)| *page)
}

const VERDICT: &str = "\
A comparison ends with one of four verdicts:

  faster, slower  the interval of the change lies on one side of zero, and not
                  inside the margin
  equivalent      the interval lies inside the margin: any change is too small to
                  matter (see `becalm help margin`)
  inconclusive    the interval is too wide to say either

The interval comes first: `+2.1 % (95 % interval +1.6 % .. +2.6 %)` says that the
program became slower by 1.6 to 2.6 %. Of 100 such intervals about 95 are right,
and of 100 comparisons of a program with itself about 5 are called different.

becalm runs both programs in turns, in rounds of random order, and looks at the
pairs: what changes on the machine meanwhile hits both. It stops as soon as it
can decide, after 30 s at most.

Inconclusive? `Next:` says how many more rounds should decide; --max-time gives
them. If that is too long, make the machine quieter (`becalm check`), or accept
a larger margin (--margin 3%).
";

const MARGIN: &str = "\
The margin is the smallest relative change that matters to you: 1 % unless you
say otherwise (--margin 3%).

Two programs are never exactly as fast as each other, and no measurement shows
that they are. What can be shown is that they differ by less than the margin;
becalm then says `equivalent`. A change that is certain but smaller than the
margin is shown with its interval.

A smaller margin takes more rounds: half the margin, four times as many.
`becalm compare --aa ./program` shows the smallest change that this machine can
resolve with your program; a margin below that ends as inconclusive.

--margin 0 asks for a difference only, and never says `equivalent`.
";

const NOISE: &str = "\
The same program takes a different time in every run. What varies, and what
becalm does about it:

  other programs, interrupts   runs are pinned to one CPU; `--isolate` keeps
                               everything else away (needs root)
  frequency, turbo, heat       both programs run in turns, so that drift hits
                               both; `--tune` fixes the frequency (needs root)
  address and stack layout     varied from round to round, so that chance in
                               one layout does not decide
  caches, first runs           warm-up rounds are not counted
  a neighbour on the host      seen as steal; the pace of the core is sampled

Each run has evidence: how long it waited for a CPU, who else ran there, page
faults, interrupts. A run with much more of it than the others is called
disturbed. It still counts, because discarding slow runs would favour the
noisier program.

  becalm check          what is noisy about this machine, with the remedies
  becalm noise probe    what interrupts a busy loop on each CPU
  becalm noise ablate   what each remedy brings here, measured
  becalm noise --help   all commands about noise
";

const LIMITS: &str = "\
A report names what becalm could not see or control. The usual ones:

  hardware counters   most virtual machines have none: no cycles, instructions
                      or cache misses. --backend callgrind simulates them
  frequency, heat     not shown by virtual machines, and throttling only by Intel
                      CPUs
  interrupts          /proc/interrupts is too slow to read on some machines
  too few CPUs        with one or two cores becalm itself runs beside the program
  small max_rss       the kernel counts becalm's own size for a new process

None of them changes a verdict: the interval comes from the measured times. They
say which disturbances would go unnoticed. `--verbose` and `becalm show` print
each with its reason.

Root, or CAP_PERFMON and CAP_SYS_NICE, lifts some: `becalm check` says which.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_fits_on_a_screen() {
        for (name, page) in TOPICS {
            assert!(page.lines().count() <= 30, "{name}");
            assert!(page.lines().all(|line| line.chars().count() <= 81), "{name}");
        }
        assert_eq!(topic("nonsense"), None);
    }
}
