#!/usr/bin/env bash
# The benchmark of nodes, and that it sees a wrong file: nodes_test.sh NODES TOOL BENCHMARK FOREBAY STAND_IN
# Exit status 77: it cannot be tried here.
set -u
[ -x "$2" ] || { echo "no $2" && exit 77; }
mpirun --version 2>/dev/null | grep -q "Open MPI" || { echo "pseudo hosts are Open MPI's: another MPI is here" && exit 77; }
unshare --net --mount true 2>/dev/null || { echo "no right to make namespaces" && exit 77; }
# run STATUS LINE ARGUMENT...
run() {
  local status=0 said
  said=$(python3 "$nodes" --tool "$tool" --program "$program" --tiny --reps 1 --shapes 2x1 --rates 1gbit --rows wrf --peers romio,forebay "${@:3}" 2>&1) || status=$?
  echo "$said"
  case $said in *"no right to make hosts"*) exit 77 ;; esac
  [ $status -eq "$1" ] || { echo "status $status instead of $1" && exit 1; }
  grep -qE "$2" <<<"$said" || { echo "no line like '$2'" && exit 1; }
}
nodes=$1 tool=$2 program=$3
run 0 '^2x1 +1gbit +wrf +romio +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ yes$' --forebay "$4"
REAL_FOREBAY=$4 run 1 '^2x1 +1gbit +wrf .* NO$' --forebay "$5"
