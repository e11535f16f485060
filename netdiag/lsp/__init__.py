"""The language server: what `netdiag.app.editor` says about open documents, over the Language Server Protocol."""
