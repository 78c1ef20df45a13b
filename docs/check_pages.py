#!/usr/bin/env python3
"""Holds the documentation to its rules: short pages, short lines, links to files that exist.

usage: check_pages.py ROOT
"""
import re
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1])
most_lines = {"README.md": 90}
pages = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"],
                       capture_output=True, text=True, check=True).stdout.split()
wrong = []
for name in pages:
    page = root / name
    if name == "CHANGELOG.md" or not page.exists():
        continue
    lines = page.read_text().splitlines()
    if len(lines) > most_lines.get(name, 250):
        wrong.append(f"{name}: {len(lines)} lines, at most {most_lines.get(name, 250)}")
    fenced = False
    for number, line in enumerate(lines, 1):
        fenced ^= line.lstrip().startswith(("```", ":::"))
        # A table's row, a link and a command cannot be wrapped. The hints' page is generated.
        if len(line) > 100 and not line.lstrip().startswith(("|", "<", "![")) and "](" not in line \
                and not fenced and name != "docs/hints.md":
            wrong.append(f"{name}:{number}: {len(line)} characters, at most 100")
        if fenced:
            continue
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"`[^`]*`", "", line)):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                wrong.append(f"{name}:{number}: no such file: {target}")
if wrong:
    sys.exit("\n".join(wrong))
