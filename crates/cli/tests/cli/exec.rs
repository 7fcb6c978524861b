//! `becalm exec`: the command in becalm's place, under the conditions of a measurement.

use becalm_testkit::skipped;

use crate::support::{can_fix_addresses, env, said};

#[test]
fn the_command_takes_the_place_of_becalm() {
    let env = env();
    let output =
        env.run(["exec", "--", "sh", "-c", "echo out; echo err >&2; exit 7"]).exits_with(7);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"));
    let output = env.run(["exec", "--", "sh", "-c", "kill -PIPE $$; echo lived on"]);
    assert_eq!(output.stdout, "", "SIGPIPE ends it as it ends any program");
}

#[test]
fn conditions_are_those_that_were_asked_for() {
    if !can_fix_addresses("conditions_are_those_that_were_asked_for") {
        return;
    }
    let env = env();
    let script =
        "grep Cpus_allowed_list /proc/self/status; nice; cat /proc/self/personality; echo $A";
    let arguments = ["--affinity", "0", "--nice", "5", "--aslr", "off", "--env", "A=b"];
    let output =
        env.run([&["exec"], &arguments[..], &["--", "sh", "-c", script]].concat()).exits_with(0);
    assert_eq!(output.stdout, "Cpus_allowed_list:\t0\n5\n00040000\nb\n");
}

#[test]
fn an_allocator_is_told_to_ask_for_huge_pages() {
    let arguments = ["exec", "--thp", "on", "--env", "GLIBC_TUNABLES=a=b", "--", "printenv"];
    let output = env().run([&arguments[..], &["GLIBC_TUNABLES"]].concat()).exits_with(0);
    assert_eq!(output.stdout, "glibc.malloc.hugetlb=1:a=b\n");
}

#[test]
fn the_environment_is_padded_unless_it_is_to_stay() {
    let env = env();
    let paddings = |layout: &str| -> Vec<usize> {
        let script = "printf '%s' \"$BECALM_PADDING\" | wc -c";
        let one = |_| {
            let output =
                env.run(["exec", "--layout", layout, "--", "sh", "-c", script]).exits_with(0);
            output.stdout.trim().parse().unwrap()
        };
        (0..5).map(one).collect()
    };
    assert!(paddings("randomise").windows(2).any(|two| two[0] != two[1]));
    assert!(paddings("fixed").iter().all(|&bytes| bytes == 0));
    let cleared = env.run(["exec", "--env-clear", "--layout", "fixed", "--", "env"]).exits_with(0);
    assert!(!cleared.stdout.contains("COLUMNS"), "{}", cleared.stdout);
}

#[test]
fn chosen_cpus_are_leased_for_as_long_as_the_command_lives() {
    let env = env();
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if cpus < 2 {
        return skipped("chosen_cpus_are_leased: there is only one CPU");
    }
    // Each goes on until the other has begun.
    let script = "grep Cpus_allowed_list /proc/self/status; touch $0.$$; n=0; \
                  until [ $(ls $0.* | wc -l) = 2 ] || [ $((n += 1)) = 6000 ]; do sleep 0.01; done";
    for attempt in 0..10 {
        let begun = format!("begun{attempt}");
        let two = std::thread::scope(|scope| {
            let start = || {
                scope.spawn(|| {
                    let arguments = ["exec", "--threads", "1", "--", "sh", "-c", script, &begun];
                    env.run(arguments).exits_with(0).stdout
                })
            };
            [start(), start()].map(|thread| thread.join().unwrap())
        });
        if two[0] != two[1] {
            return;
        }
    }
    skipped("chosen_cpus_are_leased: other measurements have leased all CPUs but one");
}

#[test]
fn what_cannot_be_started_is_said() {
    let env = env();
    let output = env.run(["exec", "--", "no-such-program"]).exits_with(4);
    assert!(said(&output).contains("cannot find the program `no-such-program`"));
    let output = env.run(["exec", "--affinity", "4095", "--", "true"]).exits_with(4);
    assert!(said(&output).contains("cannot start `true`: "), "{}", output.stderr);
    let output = env.run(["exec", "--cgroup", "/nowhere", "--", "true"]).exits_with(4);
    assert!(said(&output).contains("entering the control group /nowhere"), "{}", output.stderr);
    let _ = env.run(["exec"]).exits_with(2);
}
