#!/usr/bin/env bash
# Runs a program on two pseudo hosts, network namespaces that MPI takes for nodes: hosts_test.sh TOOL RANKS_A_HOST PROGRAM...
# In namespaces of its own, so that nothing of it stays. Exit status 77: it cannot be tried here.
set -u
tool=$1
[ -x "$tool" ] || { echo "no $tool" && exit 77; }
mpirun --version 2>/dev/null | grep -q "Open MPI" || { echo "pseudo hosts are Open MPI's: another MPI is here" && exit 77; }
if [ -z "${FOREBAY_TEST_INSIDE:-}" ]; then
  unshare --net --mount true 2>/dev/null || { echo "no right to make namespaces" && exit 77; }
  FOREBAY_TEST_INSIDE=1 exec unshare --net --mount --propagation slave "$0" "$@"
fi
each=$2
shift 2
mkdir -p run-hosts && cd run-hosts || exit 1
{ ip link set lo up && mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && mount --make-shared /run/netns; } || { echo "no right to make hosts" && exit 77; }
up=no
for _ in 1 2 3; do
  if "$tool" up 2 2>hosts.err; then up=yes && break; fi
  "$tool" down 2>/dev/null
  sleep 1
done
[ $up = yes ] || { cat hosts.err && exit 77; }
trap '"$tool" down' EXIT
HOSTS_ENV="-x ROMIO_HINTS -x FOREBAY_HINTS" "$tool" run 2 "$each" "$@"
