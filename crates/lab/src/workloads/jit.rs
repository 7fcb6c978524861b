//! A program that gets faster while it runs, as under a just-in-time compiler, and slowly.
//!
//! Small programs are interpreted until they have been called often enough, then *compiled*: from then on
//! the same computation runs as native code. The first is called in every unit, the second in every other
//! one, the k-th in every k-th, so that their compilations are spread out evenly: with the default amount
//! one falls on every sixth iteration until the 144th, each with a pause for the compiler.
//!
//! Whatever tier a program is in, it computes the same: the checksum tells nothing of the warm-up.

use std::hint::black_box;

use super::Prepared;

/// Programs.
const PROGRAMS: u64 = 24;

/// Calls after which a program is compiled: those of six iterations of the default amount, for a program that
/// is called in every unit.
const HOT: u64 = 6 * super::JIT_UNITS;

/// Times that a program repeats its instructions in one call.
const REPETITIONS: u32 = 50;

/// Work of a compilation, in instructions looked at.
const COMPILATION: u32 = 50_000;

/// An instruction of the interpreted language.
#[derive(Debug, Clone, Copy)]
enum Instruction {
    MixLeft(u32),
    MixRight(u32),
    Add(u64),
}

/// One program, and how far it got.
#[derive(Debug)]
struct Program {
    instructions: [Instruction; 4],
    constant: u64,
    calls: u64,
}

/// Prepares `amount` units.
pub(super) fn prepare(amount: u64) -> Prepared {
    let mut programs: Vec<Program> = (1..=PROGRAMS).map(Program::new).collect();
    let mut unit = 0;
    Prepared::computing(move || units(&mut programs, &mut unit, amount))
}

#[inline(never)]
fn units(programs: &mut [Program], unit: &mut u64, amount: u64) -> u64 {
    let mut state = 0x1234_5678_9ABC_DEF1;
    for _ in 0..amount {
        *unit += 1;
        for (every, program) in (1..).zip(programs.iter_mut()) {
            if unit.is_multiple_of(every) {
                state = program.call(state);
            }
        }
    }
    black_box(state)
}

impl Program {
    fn new(number: u64) -> Self {
        let constant = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let instructions = [
            Instruction::MixLeft(13),
            Instruction::MixRight(7),
            Instruction::MixLeft(17),
            Instruction::Add(constant),
        ];
        Self { instructions, constant, calls: 0 }
    }

    fn call(&mut self, state: u64) -> u64 {
        self.calls += 1;
        if self.calls == HOT {
            self.compile();
        }
        if self.calls >= HOT { native(state, self.constant) } else { self.interpret(state) }
    }

    fn interpret(&self, mut state: u64) -> u64 {
        for _ in 0..REPETITIONS {
            for instruction in &self.instructions {
                // A compiler that saw through the loop would make the native code of it.
                state = match *black_box(instruction) {
                    Instruction::MixLeft(by) => state ^ state << by,
                    Instruction::MixRight(by) => state ^ state >> by,
                    Instruction::Add(constant) => state.wrapping_add(constant),
                };
            }
        }
        state
    }

    /// Does as much as a compiler might, and keeps nothing of it.
    fn compile(&self) {
        let mut seen = 0_u64;
        for _ in 0..COMPILATION / 4 {
            for instruction in &self.instructions {
                seen = seen.rotate_left(5)
                    ^ match *black_box(instruction) {
                        Instruction::MixLeft(by) | Instruction::MixRight(by) => u64::from(by),
                        Instruction::Add(constant) => constant,
                    };
            }
        }
        black_box(seen);
    }
}

/// The compiled form of every program.
fn native(mut state: u64, constant: u64) -> u64 {
    for _ in 0..REPETITIONS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state = state.wrapping_add(constant);
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiled_program_computes_what_the_interpreted_one_does() {
        for number in 1..=PROGRAMS {
            let program = Program::new(number);
            assert_eq!(program.interpret(number), native(number, program.constant));
        }
    }
}
