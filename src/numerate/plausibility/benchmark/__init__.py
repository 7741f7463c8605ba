"""How good checking is: known errors, detectors, and what they find."""
