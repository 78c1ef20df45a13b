"""Turns the tables of manual pages into lists: a table of four columns is too wide for a terminal, and breaks names.

usage: man_lists.py PAGE...    a row becomes an entry: its first cell, "=" the second, "(default: the third)", then the last
"""

import re
import sys


def rows(table):
    """The cells of each row below the head; each cell is text of one line."""
    body = table.split(".\n", 1)[1]
    for row in body.split("\n_\n")[1:]:
        yield [" ".join(cell.split()) for cell in re.findall(r"T\{\n(.*?)\n?T\}", row, re.S)]


def entry(cells):
    name, *between, meaning = cells
    head = name
    if between and between[0]:
        head += " = " + between[0]
    if len(between) > 1 and between[1]:
        head += f" (default: {between[1]})"
    return f".TP\n{head}\n{meaning}\n"


def as_list(match):
    return "".join(entry(cells) for cells in rows(match[1])) + (".PP\n" if match[2] else "")


for page in sys.argv[1:]:
    with open(page, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"^\.TS\n(.*?)^\.TE\n(\.sp\n)?", as_list, text, flags=re.S | re.M)
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
