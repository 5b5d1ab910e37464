//! Tests of functional programs.

mod ladder;
