//! The circuits of the numeric kernels, compared with the kernels.

mod convert;
mod fixed;
mod float;
mod float_elementary;
mod gauss;
mod harness;
mod integer;
mod size;
mod table;
