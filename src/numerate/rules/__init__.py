"""The proofreader: what is wrong with the numbers of a document, and the evidence."""
