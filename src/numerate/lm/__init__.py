"""Language models that understand numbers: everything that needs torch."""
