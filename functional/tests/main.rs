//! Tests of functional programs.

mod ladder;
mod stalingrad;
