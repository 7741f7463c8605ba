"""The folder of a run: which files it has, and what each of them says."""
