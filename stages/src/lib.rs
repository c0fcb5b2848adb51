//! From a lane file to a graph, a plan and LLB.
