//! Prints the calibration tables.
//!
//! `cargo run --release -p becalm-calibrate --example calibrate -- TRIALS [SEED]`

#![expect(clippy::print_stdout, reason = "the tables are the purpose")]

use becalm_calibrate::calibration_markdown;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|argument| {
        argument.parse::<u32>().expect("usage: calibrate TRIALS [SEED], whole numbers")
    });
    let trials = numbers.next().unwrap_or(2000);
    let seed = numbers.next().unwrap_or(1);
    print!("{}", calibration_markdown(trials, u64::from(seed)));
}
