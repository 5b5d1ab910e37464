//! How long the parts of Pendula take, measured by Criterion: see `benches/`.
