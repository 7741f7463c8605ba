"""The paper's tables from a dataset in one command: train, evaluate, report."""
