"""A JSON API and one page in the browser, over what `numerate.lm.model` says."""
