//! The pages of a history over real connections, and as files.

mod browser;
mod decisions;
mod hostile;
mod pages;
mod published;
mod support;
