#!/usr/bin/env bash
# How the driver is selected from outside, rightly and wrongly: every rank gets its file or an error that says why, nobody
# crashes or waits for ever; serial tools refuse the driver, and read the file without it.
#   selecting_test.sh MPIEXEC FOREBAY SELECTING_PROGRAM PLUGIN_DIR LOADING_PROGRAM SELECTING_MODULE
set -u
mpiexec=$1 forebay=$2 program=$3 plugins=$4 loading=$5 module=$6
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
unset HDF5_DRIVER HDF5_DRIVER_CONFIG HDF5_PLUGIN_PATH FOREBAY_HINTS
failures=0
ranks=3

# says COUNT TEXT COMMAND...: exit status 0, and so many lines of the output have the text
says() {
  local count=$1 text=$2 status found
  shift 2
  timeout "${SELECTING_SECONDS:-60}" "$@" >out 2>&1 </dev/null
  status=$?
  found=$(grep -c -e "$text" out)
  [ $status -eq 0 ] && [ "$found" -eq "$count" ] && return
  failures=$((failures + 1))
  { echo "status $status, $found lines (not $count) with \"$text\": ${*: -4}"; cut -c1-400 out | head -n 12; } >&2
}
plugin="env HDF5_DRIVER=forebay HDF5_PLUGIN_PATH=$plugins"
job="$mpiexec -n $ranks"
long=$(printf 'x%.0s' {1..5000})

# shellcheck disable=SC2086 # words
{
  says 3 'created, atomic' $plugin $job "$program" default
  says 3 'created, atomic' $plugin $job "$loading" "$module" selecting default
  says 3 'created, sees mpio, atomic' $job "$forebay" run "$loading" "$module" selecting mpio
  says 3 created $plugin HDF5_DRIVER_CONFIG= $job "$program" default
  says 3 created $plugin HDF5_DRIVER_CONFIG=forebay_mode=commit $job "$program" default
  says 3 created $plugin $job "$program" name:forebay
  says 3 created env HDF5_PLUGIN_PATH="$plugins" $job "$program" name:forebay:forebay_stripe_bytes=64k
  says 3 'refused.*did you mean forebay_mode' $plugin HDF5_DRIVER_CONFIG=forebay_mod=strict $job "$program" default
  says 3 'refused.*5000 characters' $plugin HDF5_DRIVER_CONFIG="$long" $job "$program" default
  says 3 'refused.*99999999999999999999' $plugin HDF5_DRIVER_CONFIG=forebay_stripe_bytes=99999999999999999999 $job "$program" default
  says 3 'refused.*did you mean forebay_link' $plugin $job "$program" name:forebay:forebay_lnk=put
  # on one rank only
  says 3 'refused.*did you mean forebay_mode' $plugin $job "$program" default --last HDF5_DRIVER_CONFIG=forebay_mod=strict
  says 3 'refused.*5000 characters' $plugin $job "$program" default --last HDF5_DRIVER_CONFIG="$long"
  says 3 'refused.*did you mean forebay_link' $plugin $job "$program" default --last FOREBAY_HINTS=forebay_lnk=put
  # each rank a file of its own: nobody waits for others that will not come
  says 3 'refused.*rank 0 selecting.0.h5, rank 1 selecting.1.h5.*HDF5_DRIVER=forebay makes' $plugin $job "$program" default --each
  says 3 'refused.*rank 0 selecting.0.h5, rank 1 selecting.1.h5' $job "$forebay" run "$program" mpio --each
  # rank 0 alone: it says for whom it waits, and goes on when they come
  missing='ranks 1 and 2 have not come to it'
  says 3 created env HDF5_DRIVER_CONFIG=forebay_patience_seconds=1 $plugin $job "$program" default --first "$dir/out" "$missing"
  mv out said
  says 1 "$missing. HDF5_DRIVER=forebay makes" cat said
  # no such driver, no such plugin
  says 3 refused env HDF5_PLUGIN_PATH="$plugins" $job "$program" name:foreby
  says 3 refused $job "$program" name:forebay
  # HDF5 2.2 by itself falls over a driver that it cannot find
  if HDF5_DRIVER=foreby "$program" default --no-init >/dev/null 2>&1; then
    says 3 refused env HDF5_DRIVER=foreby HDF5_PLUGIN_PATH="$plugins" $job "$program" default
  fi
  # no MPI
  says 1 'refused.*MPI is not running' $plugin "$program" default --no-init
  says 1 'refused.*MPI is not running' env HDF5_PLUGIN_PATH="$plugins" "$program" name:forebay --no-init
  # what selects mpio is Forebay's under the interposer, and sees mpio
  says 3 'created, sees mpio' $job "$forebay" run --stats stats.json "$program" mpio
  says 1 '"active": true' cat stats.json
  says 3 'refused.*did you mean forebay_link' $job "$forebay" run "$program" mpio --last FOREBAY_HINTS=forebay_lnk=put
  says 3 'created, sees mpio' $job "$forebay" run "$program" mpio --last FOREBAY_HINTS=forebay_enable=off
}

# Serial tools with the variables still set say what to do; without them they read the file.
$job "$program" mpio >/dev/null || failures=$((failures + 1))
cp selecting.h5 stock.h5
# shellcheck disable=SC2086
$plugin $job "$program" default >/dev/null
for tool in "h5dump selecting.h5" "h5ls selecting.h5/data" "h5diff stock.h5 selecting.h5"; do
  command -v "${tool%% *}" >/dev/null || continue
  # The tool fails as it does with any driver that HDF5 cannot find.
  # shellcheck disable=SC2086
  says 1 'unset HDF5_DRIVER' bash -c "HDF5_DRIVER=foreby $tool >/dev/null 2>&1; wanted=\$?; $plugin $tool; [ \$? -eq \$wanted ]"
  # shellcheck disable=SC2086
  says 0 . bash -c "$tool >/dev/null"
done
if command -v h5dump >/dev/null; then says 1 '42, 43' h5dump selecting.h5; fi
if python3 -c 'import h5py; h5py.File' 2>/dev/null; then
  says 1 '42, 43' python3 -c 'import h5py; print(list(map(int, h5py.File("selecting.h5")["data"][:])))'
fi
[ $failures -eq 0 ]
