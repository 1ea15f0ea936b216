"""How every page that grading writes begins: it loads nothing and runs nothing, whatever a student has written."""

# Put in front of a page's template; there are no braces in it, which `str.format` would read.
HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
"""
