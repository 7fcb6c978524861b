//! Prints the table of bisections in `docs/methodology/bisection.md`.
//!
//! `cargo run --release -p becalm-calibrate --example bisection -- [SEARCHES] [SEED]`

#![expect(clippy::print_stdout, reason = "printing is what it is there for")]

use becalm_calibrate::bisection::bisection_markdown;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("a number"));
    let searches = arguments.next().unwrap_or(1000);
    let seed = arguments.next().unwrap_or(1);
    print!("{}", bisection_markdown(u32::try_from(searches).expect("not that many"), seed));
}
