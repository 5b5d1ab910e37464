//! Tests of functional programs.

mod futhark;
mod ladder;
mod stalingrad;
mod vlad;
