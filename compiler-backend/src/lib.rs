//! Part of Pendula.
