//! Prints how often the detector of change points is wrong, and what it finds.
//!
//! `cargo run --release -p becalm-calibrate --example levels -- [SERIES] [SEED]`

#![expect(clippy::print_stdout, reason = "printing is what it is there for")]

use becalm_calibrate::levels_markdown;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u32>().expect("a number"));
    let series = numbers.next().unwrap_or(1000);
    let seed = numbers.next().unwrap_or(1);
    print!("{}", levels_markdown(series, u64::from(seed)));
}
