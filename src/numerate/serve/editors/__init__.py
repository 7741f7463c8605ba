"""The language server: documents are proofread in the editor, as they are written."""
