//! Tests of functional programs.

mod expectations;
mod futhark;
mod ladder;
mod partials;
mod stalingrad;
mod vlad;
