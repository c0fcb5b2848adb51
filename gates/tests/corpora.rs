//! Real files that nobody here made, against other readers.
