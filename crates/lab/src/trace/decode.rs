//! From the bytes that the kernel wrote to events.
//!
//! Every record has a header with its kind and size. Samples begin with the fields that were asked for,
//! other records end with them (`sample_id_all`). Whatever is shorter than it should be is left out.
//! <https://man7.org/linux/man-pages/man2/perf_event_open.2.html>

use super::catalogue::Meanings;
use super::event::{Tid, TraceEvent, What};

const RECORD_LOST: u32 = 2;
const RECORD_COMM: u32 = 3;
const RECORD_EXIT: u32 = 4;
const RECORD_FORK: u32 = 7;
const RECORD_SAMPLE: u32 = 9;

/// `PERF_RECORD_MISC_COMM_EXEC`: the name is that of a program that is executed.
const COMM_EXEC: u16 = 1 << 13;

/// Kind, further bits and size of a record.
const HEADER: usize = 8;
/// Process and thread, time, and whose sample it is: 8 bytes each.
const TRAILER: usize = 24;

/// Reads all records of one CPU, in the order in which they were written.
pub(super) fn decode(
    mut bytes: &[u8],
    cpu: u32,
    meanings: &mut Meanings,
    out: &mut Vec<TraceEvent>,
) {
    // Of this CPU alone: what others did last is in `out` too, and may be later than the loss.
    let mut latest = 0;
    while let Some(record) = next_record(&mut bytes) {
        if let Some(event) = event(record, cpu, latest, meanings) {
            latest = event.at;
            out.push(event);
        }
    }
}

/// Cuts the first record off; `None` at the end, or where the bytes make no sense.
fn next_record<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let size = usize::from(u16::from_ne_bytes(bytes.get(6..HEADER)?.try_into().ok()?));
    if size < HEADER {
        return None;
    }
    let (record, rest) = bytes.split_at_checked(size)?;
    *bytes = rest;
    Some(record)
}

fn event(record: &[u8], cpu: u32, latest: u64, meanings: &mut Meanings) -> Option<TraceEvent> {
    let kind = word32(record, 0)?;
    let body = record.get(HEADER..)?;
    match kind {
        RECORD_SAMPLE => {
            let id = word64(body, 0)?;
            let tid = Tid(word32(body, 12)?);
            let at = word64(body, 16)?;
            let data = match word32(body, 24) {
                Some(size) => body.get(28..28 + size as usize)?,
                None => &[],
            };
            Some(TraceEvent { at, cpu, tid, what: meanings.read(id, data)? })
        }
        RECORD_FORK | RECORD_EXIT => {
            let (process, parent) = (word32(body, 0)?, word32(body, 4)?);
            let (tid, by) = (Tid(word32(body, 8)?), Tid(word32(body, 12)?));
            let at = word64(body, 16)?;
            let what = if kind == RECORD_FORK {
                What::Fork { parent, process, tid, by }
            } else {
                What::Exit { process, tid }
            };
            // A birth is written down by the parent, a death by the task itself.
            let present = if kind == RECORD_FORK { by } else { tid };
            Some(TraceEvent { at, cpu, tid: present, what })
        }
        RECORD_COMM => {
            let misc = u16::from_ne_bytes(record.get(4..6)?.try_into().ok()?);
            let tid = Tid(word32(body, 4)?);
            let at = word64(body.get(body.len().checked_sub(TRAILER)?..)?, 8)?;
            let is_exec = misc & COMM_EXEC != 0;
            is_exec.then_some(TraceEvent { at, cpu, tid, what: What::Exec { tid } })
        }
        RECORD_LOST => {
            let count = word64(body, 8)?;
            let trailer = body.get(body.len().checked_sub(TRAILER)?..)?;
            let at = word64(trailer, 8)?.max(latest);
            Some(TraceEvent { at, cpu, tid: Tid(word32(trailer, 4)?), what: What::Lost(count) })
        }
        _ => None,
    }
}

fn word32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::Meaning;
    use super::*;

    fn record(kind: u32, words: &[u64]) -> Vec<u8> {
        let size = u16::try_from(HEADER + 8 * words.len()).unwrap();
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend([0, 0]);
        bytes.extend(size.to_ne_bytes());
        for word in words {
            bytes.extend(word.to_ne_bytes());
        }
        bytes
    }

    /// Two numbers of 32 bits, the former at the lower address.
    fn pair(first: u32, second: u32) -> u64 {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&first.to_ne_bytes());
        bytes[4..].copy_from_slice(&second.to_ne_bytes());
        u64::from_ne_bytes(bytes)
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &[(u64, u32, What)]) {
        let mut meanings = Meanings::default();
        meanings.add(5, Meaning::FaultStart);
        let mut events = Vec::new();
        decode(bytes, 3, &mut meanings, &mut events);
        let found: Vec<_> = events.iter().map(|one| (one.at, one.tid.0, one.what)).collect();
        assert_eq!(found, expected);
        assert!(events.iter().all(|event| event.cpu == 3));
    }

    #[test]
    fn samples_births_deaths_and_losses_are_read() {
        let mut bytes = record(RECORD_SAMPLE, &[5, pair(70, 71), 1000]);
        bytes.extend(record(RECORD_FORK, &[pair(80, 70), pair(80, 71), 1100, 0, 0, 0]));
        bytes.extend(record(RECORD_EXIT, &[pair(80, 70), pair(81, 71), 1200, 0, 0, 0]));
        let named = record(RECORD_COMM, &[pair(80, 81), 0x41, pair(80, 81), 1250, 5]);
        let mut executed = named.clone();
        executed[4..6].copy_from_slice(&COMM_EXEC.to_ne_bytes());
        bytes.extend([named, executed].concat());
        bytes.extend(record(RECORD_LOST, &[5, 44, pair(70, 71), 1300, 5]));
        check(
            &bytes,
            &[
                (1000, 71, What::FaultStart),
                (1100, 71, What::Fork { parent: 70, process: 80, tid: Tid(80), by: Tid(71) }),
                (1200, 81, What::Exit { process: 80, tid: Tid(81) }),
                (1250, 81, What::Exec { tid: Tid(81) }),
                (1300, 71, What::Lost(44)),
            ],
        );
    }

    #[test]
    fn what_was_lost_on_a_cpu_is_not_moved_behind_what_another_did() {
        let mut meanings = Meanings::default();
        meanings.add(5, Meaning::FaultStart);
        let mut events = Vec::new();
        let sample = |at| record(RECORD_SAMPLE, &[5, pair(70, 71), at]);
        decode(&sample(9000), 0, &mut meanings, &mut events);
        let lost = record(RECORD_LOST, &[5, 44, pair(70, 71), 1300, 5]);
        decode(&[lost, sample(1300)].concat(), 1, &mut meanings, &mut events);
        let times: Vec<u64> = events.iter().map(|event| event.at).collect();
        assert_eq!(times, [9000, 1300, 1300]);
    }

    #[test]
    fn unknown_and_broken_records_are_left_out() {
        let good = record(RECORD_SAMPLE, &[5, pair(70, 71), 1000]);
        let mut bytes = record(RECORD_SAMPLE, &[99, pair(70, 71), 900]);
        bytes.extend(record(14, &[1, 2, 3]));
        bytes.extend(record(RECORD_FORK, &[1]));
        bytes.extend(&good);
        // The rest of this one is missing.
        bytes.extend(&good[..12]);
        check(&bytes, &[(1000, 71, What::FaultStart)]);
        check(&[0; 64], &[]);
    }
}
