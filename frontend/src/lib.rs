//! The ways in.
