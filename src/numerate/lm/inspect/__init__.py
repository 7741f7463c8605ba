"""What the models learnt: one figure or table per file, each a function of trained runs."""
