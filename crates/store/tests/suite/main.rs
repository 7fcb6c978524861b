//! One suite for both databases, and what is special to each.

mod both;
mod postgres;
mod sqlite;
mod support;
mod tls;
