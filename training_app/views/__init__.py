"""Pages of the training app: parse, call, render."""
