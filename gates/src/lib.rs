//! lanegate: checks of binary trees with one report.
