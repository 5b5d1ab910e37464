//! Tests of functional programs.
