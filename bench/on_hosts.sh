#!/usr/bin/env bash
# Runs a benchmark whose writers are on pseudo hosts, network namespaces that MPI takes for nodes:
#   on_hosts.sh TOOL NxQ[@RATE] BENCHMARK...     TOOL: hosts; N hosts of Q ranks; RATE as tc writes it, e.g. 1gbit
# In namespaces of its own, so that nothing of it stays. Needs root, iproute2 and Open MPI.
set -u
usage="usage: on_hosts.sh TOOL NxQ[@RATE] BENCHMARK..."
if [ $# -lt 3 ] || ! [[ $2 =~ ^([1-9][0-9]*)x([1-9][0-9]*)(@(.+))?$ ]]; then echo "$usage" >&2 && exit 2; fi
hosts=${BASH_REMATCH[1]} each=${BASH_REMATCH[2]} rate=${BASH_REMATCH[4]:-}
tool=$(readlink -f "$1") || exit 2
if [ -z "${FOREBAY_ON_HOSTS:-}" ]; then
  FOREBAY_ON_HOSTS=1 exec unshare --net --mount --propagation slave "$0" "$@"
fi
shift 2
{ ip link set lo up && mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && mount --make-shared /run/netns; } || { echo "on_hosts.sh: no right to make hosts" >&2 && exit 1; }
# shellcheck disable=SC2086 # no rate is no word
"$tool" up "$hosts" $rate || exit 1
trap '"$tool" down' EXIT
# What the benchmark sets for its writers goes to the hosts as well.
pass="-x ROMIO_HINTS -x FOREBAY_HINTS -x PNETCDF_HINTS -x OMPI_MCA_fcoll -x FOREBAY_STATS -x LD_LIBRARY_PATH"
"$@" --ranks $((hosts * each)) --launcher "env HOSTS_ENV='$pass' $tool run $hosts $each"
