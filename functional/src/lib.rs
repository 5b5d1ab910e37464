//! Functional programs: VLAD and Futhark on one core language, its evaluator, and derivatives as transformations of it.
