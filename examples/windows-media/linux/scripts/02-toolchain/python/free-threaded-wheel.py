"""PLACEHOLDER, not the real script: it would build the twin of a wheel for the interpreter without a GIL."""

raise SystemExit("free-threaded-wheel.py is a placeholder")
