//! Workloads that becalm brings along.
