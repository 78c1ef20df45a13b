#!/bin/sh
# A script as PROGRAM: prints its arguments, one a line.
for argument; do echo "[$argument]"; done
exit 9
