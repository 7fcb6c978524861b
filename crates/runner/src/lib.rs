//! Schedules, starts, pins, counts and collects evidence; emits events and prints nothing.
