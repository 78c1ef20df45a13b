#!/bin/sh
# Runs engine_cases, engine_commit and engine_memory where the disk is full, and where /dev/shm is tiny, in a mount namespace of its own.
set -u
may_not() { echo "no right to mount file systems" && exit 77; }
mpiexec=$1 program=$2 commit=$3 memory=$4
if [ "${5:-}" != inside ]; then
  unshare --mount true 2>/dev/null || may_not
  exec unshare --mount "$0" "$mpiexec" "$program" "$commit" "$memory" inside
fi
dir=$(mktemp -d) || exit 1
trap 'umount "$dir" 2>/dev/null; rmdir "$dir"' EXIT
mount -t tmpfs -o size=4m tmpfs "$dir" || may_not
"$mpiexec" -n 4 "$program" --full-disk "$dir" || exit 1
"$mpiexec" -n 4 "$commit" --full-disk "$dir" || exit 1
# MPI itself must not need /dev/shm for this: Open MPI, and MPICH over UCX, keep their own segments elsewhere.
work=$(mktemp -d) && cd "$work" || exit 1  # not below the /dev/shm that goes out of sight now
mount -t tmpfs -o size=64k tmpfs /dev/shm || may_not
export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo UCX_TLS=self,tcp UCX_NET_DEVICES=lo
"$mpiexec" -n 4 "$program" --no-shared-memory || exit 1
mount -t tmpfs -o size=64m tmpfs /dev/shm || may_not
"$mpiexec" -n 8 "$memory" --sixty-files || exit 1
mount -t tmpfs -o size=24m tmpfs /dev/shm || may_not
timeout 60 "$mpiexec" -n 4 "$program" --shared-memory-goes || exit 1
timeout 60 "$mpiexec" -n 4 "$commit" --shared-memory-gone >said 2>&1 || { cat said; exit 1; }
cat said
# once, and not for the file that had all
[ "$(grep -c 'segments were not had' said)" = 1 ] || exit 1
mount -t tmpfs -o size=2m tmpfs /dev/shm || may_not
"$mpiexec" -n 8 "$program" --little-shared-memory || exit 1
