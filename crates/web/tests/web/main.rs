//! The pages of a history over real connections, and as files.

mod browser;
mod decisions;
mod encrypted;
mod hostile;
mod overviews;
mod pages;
mod projects;
mod published;
mod raw;
mod requests;
mod support;
mod uploads;
