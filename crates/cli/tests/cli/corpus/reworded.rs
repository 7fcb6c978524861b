//! Sentences that were put in other words since the corpus was saved, the longest first: what stood between two values,
//! and what stands there now.

/// The old words and those of today.
pub(super) const REWORDED: [(&str, &str); 91] = [
    (
        "instructions are counted by callgrind: those that the program executes in user mode, and not the kernel's. It sees neither waiting nor what makes an instruction slow; its times are those of the simulation, and simulated_... are of a model and not of this processor",
        "instructions are counted by callgrind: those that the program executes in user mode, and not those of the kernel. It sees neither waiting nor what makes an instruction slow; its times are those of the simulation, and simulated_... are of a model and not of this processor",
    ),
    (
        "These were measured at different times, so drift of the machine between them cannot be excluded: the intervals cover only the noise inside each record. For a verdict to rely on, measure both in one session with `becalm compare`",
        "The two were measured at different times, so drift of the machine between them cannot be excluded: the intervals cover only the noise inside each record. For a reliable verdict, measure both in one session with `becalm compare`",
    ),
    (
        "the values move in steps, or never, and nothing finer than a step is seen, however many rounds there are: a finer clock would tell more, and a count can be called exact",
        "the values change in steps or not at all, so changes smaller than a step are not detectable in any number of rounds: use a finer clock, or declare a count exact",
    ),
    (
        "one process on a side says nothing about how much processes differ, however many values were timed inside it: measure several, as `becalm compare --harness` does",
        "one process on a side does not show how much processes differ, however many values were timed inside it: measure several, as `becalm compare --harness` does",
    ),
    (
        "measured separately: a change of the machine between the two cannot be told from a change of the program; `becalm compare` interleaves them",
        "measured separately: a change of the machine between the two looks like a change of the program; `becalm compare` interleaves them",
    ),
    (
        "hyperfine makes all runs of one command before those of the next, so drift of the machine between them cannot be told from a difference",
        "hyperfine makes all runs of one command before those of the next, so drift of the machine between them looks like a difference",
    ),
    (
        "`becalm history add FILE` makes it; --store, BECALM_STORE or [history] store in becalm.toml name another",
        "`becalm history add FILE` creates it, in a folder that exists; --store, BECALM_STORE or [history] store in becalm.toml choose another",
    ),
    (
        "no frequency driver is loaded here, as in most virtual machines: the frequency is not ours to see",
        "no frequency driver is loaded here, as in most virtual machines: the frequency is not visible",
    ),
    (
        " MiB cannot be told: the kernel counts becalm's own size for a process that it has just started",
        " MiB is not visible: the kernel counts becalm's own size for a process that it has just started",
    ),
    (
        "--across-machines compares them all the same, which says nothing about a change of the program",
        "--across-machines compares them anyway; the difference then says nothing about the program",
    ),
    (
        "leave it on: varying the layout from run to run is what keeps one lucky layout from deciding",
        "leave it on: the layout then varies from run to run, so that chance in one layout does not decide",
    ),
    (
        "the session looked at its results while it ran, for which this interval makes no allowance",
        "the session looked at its results while it ran, and this interval is not corrected for that",
    ),
    (
        " of them different, which are run; rounds of the same layout count as one observation",
        " different ones of them are run; rounds of the same layout count as one observation",
    ),
    (
        "one timer interrupt every 4 s and CPU; one hardware counter where nmi_watchdog is 1",
        "one timer interrupt per CPU every 4 s; one hardware counter if nmi_watchdog is 1",
    ),
    (
        "governor, turbo and limits of the frequency: no frequency driver shows itself here",
        "governor, turbo and frequency limits: no frequency driver is visible here",
    ),
    (
        "add it with `becalm history add`; `becalm gate` without a file judges the history",
        "add it with `becalm history add`; then `becalm gate` without a file judges the history",
    ),
    (
        " cannot be given together with --resume: the runs before were made in another way",
        " cannot be combined with --resume: the earlier runs were made differently",
    ),
    (
        " are the same, byte for byte: unless they look at their own name, this is an A/A",
        " are the same, byte for byte: unless they look at their own name, this is an A/A comparison",
    ),
    (
        "varying the layout from run to run is what keeps one lucky layout from deciding",
        "the layout then varies from run to run, so that chance in one layout does not decide",
    ),
    (
        "What it costs was not measured here: `becalm noise trace -- COMMAND` does",
        "What it costs was not measured; `becalm noise trace -- COMMAND` measures it",
    ),
    (
        ". Nothing was measured: what is the same program is not faster or slower",
        ". Nothing was measured: a program cannot be faster or slower than itself",
    ),
    (
        "there is no value in compare-nothing-in-common.json that could be judged",
        "compare-nothing-in-common.json has no value that could be judged",
    ),
    (
        " of the highest level is a rough one; 10 and more make a better pilot",
        " repetitions of the highest level is only a rough one; a pilot of at least 10 is better",
    ),
    (
        "; if the change is wanted, say so with `becalm changes acknowledge ",
        "; if you want the change, accept it with `becalm changes acknowledge ",
    ),
    (
        "the file tells neither units nor which way is better: less is taken",
        "the file gives neither units nor the better direction: less is assumed to be better",
    ),
    (
        "Keep it off with --isolate, or move it: `taskset -p` to another CPU",
        "End it while you measure, move it (`taskset -p` to another CPU), or keep it off with --isolate",
    ),
    (
        "leave it out to go on as the session was begun, or begin anew",
        "drop it to continue the session as it was started, or start a new session",
    ),
    (
        "The kernel unmaps pages to see who uses them, and moves them",
        "The kernel unmaps pages to see which CPUs use them, and moves them",
    ),
    (
        "without --commit each is of the commit that the file names",
        "without --commit, each result belongs to the commit that the file names",
    ),
    (
        "What is known of session and machine is the same in both",
        "What is known about session and machine is the same in both",
    ),
    (
        "measure several, as `becalm compare --harness` does",
        "measure about ten on each side, as `becalm compare --harness` does, or put the output of ten processes into each file",
    ),
    (
        "the saved session is from another machine state: ",
        "the saved session is from another machine or another state of it: ",
    ),
    (
        "Nothing was measured: all sides are one program",
        "Nothing was measured: all sides are the same program",
    ),
    (
        "Programs lie elsewhere in memory in every run",
        "Programs are placed elsewhere in memory in every run",
    ),
    (
        "there is no value in it that could be judged",
        "in-the-warm-up.jsonl has no value that could be judged",
    ),
    (
        "these were measured on different machines: ",
        "the results were measured on different machines: ",
    ),
    (": the runs before were made in another way", ": the earlier runs were made differently"),
    ("slowing down because of heat is not seen", "throttling because of heat is not visible"),
    ("made again, at most a third more in all", "repeated, at most a third more in total"),
    ("The session ended before its plan did: ", "The session ended early: "),
    ("whether any was disturbed is not known", "it is unknown whether any was disturbed"),
    ("--metric NAME chooses it; there are ", "choose it with --metric NAME; the metrics are "),
    (": the iterations cannot be judged: ", ": cannot judge the iterations: "),
    (", where all the error was spent: ", ", when all of its error was spent: "),
    ("`becalm compare` interleaves them", "`becalm compare` measures them in turns"),
    (" commits, and a record is of one", " commits, but only a record of one commit can be judged"),
    ("--commit names one commit, and ", "--commit names one commit, but "),
    ("not decided; 1 more round would", "undecided; 1 more round would decide"),
    (" could not be resolved either ", " is not detectable either "),
    ("; the suite went on without it", "; the suite continued without it"),
    (": what stands for them is the ", ": the "),
    ("which holds every finished run", "which contains every finished run"),
    ("moves those that may be moved", "moves the movable ones"),
    ("BenchmarkAlloc-2 widge… 3.500", "BenchmarkAlloc-2 3.500"),
    ("BenchmarkAlloc widgets… 3.500", "BenchmarkAlloc 3.500"),
    ("one wake-up a second and CPU", "one wake-up per CPU every second"),
    (", named in the saved record", ", listed in the saved record"),
    (", which it does not look at", ", which it ignores"),
    ("Measure again, to the end", "Measure again, and let the measurement finish"),
    ("the frequency is not seen", "the frequency is not visible"),
    ("waiting of its own accord", "waiting voluntarily"),
    ("BenchmarkAlloc-2 alloc… 1", "BenchmarkAlloc-2 1"),
    ("BenchmarkAlloc allocs/… 1", "BenchmarkAlloc 1"),
    ("there is no sensor here", "this machine has no sensor"),
    ("It is the subject's own", "It is caused by the subject"),
    ("Nothing was measured: ", "Nothing was measured, so "),
    (", as the tool gives it", ", as the tool reports it"),
    ("the data do not decide", "the data do not allow a decision"),
    (" layouts were built, ", " layouts were built, and the "),
    ("there is no such file", "no such file"),
    (": what splits series", ": facts that split series"),
    (" more rounds would", " more rounds would decide"),
    ("[-12.3 %, -10.1 %]", "-12.3 % .. -10.1 %"),
    ("What is only told", "Facts that are only reported"),
    ("; the record has ", "; the record also has "),
    ("[+9.0 %, +10.6 %]", "+9.0 % .. +10.6 %"),
    (" runs disturbed.", " runs was disturbed."),
    (" were looked at", " were examined"),
    (" run disturbed.", " run was disturbed."),
    (" s the longest", " s at most"),
    ("3565545000 B/s", "3.321 GiB/s"),
    ("2937870000 B/s", "2.736 GiB/s"),
    ("not decided; ", "undecided; "),
    (" s together, ", " s in total, "),
    ("301935000 B/s", "287.9 MiB/s"),
    ("303050000 B/s", "289.0 MiB/s"),
    (" made again", " repeated"),
    ("not decided", "undecided"),
    ("taken away", "removed"),
    ("not known", "unknown"),
    ("Broken off: ", "Interrupted: "),
];
