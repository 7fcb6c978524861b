//! Prints how often a comparison of servers in turns is wrong, and what it finds.
//!
//! `cargo run --release -p becalm-calibrate --example servers -- [SESSIONS] [SEED]`

#![expect(clippy::print_stdout, reason = "printing is what it is there for")]

use becalm_calibrate::servers::servers_markdown;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<u32>().expect("a number"));
    let sessions = numbers.next().unwrap_or(2000);
    let seed = numbers.next().unwrap_or(26);
    print!("{}", servers_markdown(sessions, u64::from(seed)));
}
