"""LanguageTool's protocol, so that its clients can ask `numerate serve`."""
