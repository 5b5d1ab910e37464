//! Tests of functional programs.

mod futhark;
mod ladder;
mod partials;
mod stalingrad;
mod vlad;
