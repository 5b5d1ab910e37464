//! Tests of lowering: the shapes of code, runs in both directions, gradients, random programs.

mod arrays;
mod calls;
mod code;
mod common;
mod gradient;
mod many;
mod run;
mod shapes;
