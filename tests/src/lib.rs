//! Tests that cross crates and need an engine.
