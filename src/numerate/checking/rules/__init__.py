"""One module a family of rules; importing this package registers them all."""
