"""The formats of a report of check-listeners, a module each: `render(report, root)` gives the whole text.

- `root` is the folder below which paths are relative. Text and JSON name a file as the user did.
- Findings stand in the order of `in_order`, so that equal reports give equal bytes; JSON keeps that of the report.
- Foreign text goes through `plain` or `harmless`: no control character and no secret is left. What the format takes for
  markup is escaped, too.
- Every finding is shown, notes as what fails nothing. So is every input that could not be read (`report.unread`), as an
  error. What was skipped is shown if the format has a place for it.

`cli.outputs.Format` lists the formats. `tests/render/test_every_format.py` holds each of them to this.
"""
