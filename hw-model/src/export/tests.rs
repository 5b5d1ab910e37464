//! Exports, read back.
