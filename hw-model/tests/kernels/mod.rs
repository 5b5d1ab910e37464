//! The circuits of the numeric kernels against the kernels.

mod convert;
mod fixed;
mod float;
mod float_elementary;
mod gauss;
mod harness;
mod integer;
mod size;
