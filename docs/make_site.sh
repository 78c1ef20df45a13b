#!/bin/bash
# Makes the documentation: the API reference's facts (Doxygen), the site and the manual pages (Sphinx). A warning, a link
# to nowhere, a page that is too long, or a manual page in docs/man that is not what its source says, is an error.
# usage: make_site.sh WORK [--update]
set -euo pipefail
top=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
work=$(realpath -m "$1")
update=${2:-}
case $update in '' | --update) ;; *) echo "docs: takes --update or nothing" >&2 && exit 2 ;; esac
fail() { echo "docs: $*" >&2 && exit 1; }
for tool in doxygen sphinx-build python3; do
  command -v "$tool" >/dev/null || fail "$tool is not here; the documentation needs doxygen, Sphinx, myst-parser, furo, breathe and sphinx-copybutton"
done
mkdir -p "$work"

python3 "$top/docs/check_pages.py" "$top" || fail "the pages above break the rules"
(
  cd "$top"
  cat docs/Doxyfile
  echo "OUTPUT_DIRECTORY = \"$work/doxygen\""
  echo "WARN_AS_ERROR = FAIL_ON_WARNINGS"
) >"$work/Doxyfile"
mkdir -p "$work/doxygen"
(cd "$top" && doxygen "$work/Doxyfile")
export FOREBAY_DOXYGEN=$work/doxygen/xml PYTHONWARNINGS=ignore
build() { sphinx-build -q -W --keep-going -d "$work/doctrees" -b "$1" "$top/docs" "$work/$1"; }
build html
build man
python3 "$top/docs/man_lists.py" "$work"/man/*.[1-9]
for page in "$work"/man/*.[1-9]; do
  kept=$top/docs/man/$(basename "$page")
  ! grep -n '–[a-z]' "$page" >&2 || fail "$(basename "$page") has a dash where an option has --"
  if [ -n "$update" ]; then
    cp "$page" "$kept"
  elif ! cmp -s "$page" "$kept"; then
    diff -u "$kept" "$page" | head -20 >&2 || true
    fail "docs/man/$(basename "$page") is not what its source says; ./dev docs --update makes it"
  fi
done
echo "docs: $work/html/index.html"
