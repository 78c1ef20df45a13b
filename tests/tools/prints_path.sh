#!/bin/sh
# A script, of which nobody can tell which libraries it will load: what it would search for them.
printf '%s\n' "${LD_LIBRARY_PATH-}"
