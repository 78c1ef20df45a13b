#!/bin/bash
# programs_test.sh MPIEXEC RANKS FOREBAY READER: what programs of each library read by a stage. The file's bytes are
# replaced underneath: who reads the old ones has them from the stage. Then its time is changed, too.
set -u
mpiexec=$1 ranks=$2 forebay=$3 reader=$4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir stages
failed=0

run() { # run HINTS LIBRARY read|write FILE [VALUE]
  local hints=$1
  shift
  "$mpiexec" -n "$ranks" "$forebay" run --mode strict --hints "$hints" "$reader" "$@" 2>>said
}
expect() { # expect WHAT WANTED HINTS LIBRARY
  local said
  said=$(run "$3" "$4" read "$4.file")
  [ "$said" = "$2" ] && return
  echo "$4, $3: $1: wanted '$2', got '$said'"
  failed=1
}

for library in hdf5 pnetcdf tcio; do
  run "" $library write new.file 7 || failed=1
  run "" $library write $library.other 9 || failed=1
  for kind in extent compact whole; do
    for more in "" ";forebay_ranks_per_node=1" ";forebay_storage=mpiio"; do
      hints="forebay_stage=$work/stages;forebay_stage_kind=$kind$more"
      rm -f stages/*
      cp new.file $library.file
      touch -d '2020-01-01' $library.file
      expect "the first time" "value 7" "$hints" $library
      [ -n "$(ls stages)" ] || { echo "$library, $hints: no stage" && failed=1; }
      cat $library.other >$library.file
      touch -d '2020-01-01' $library.file
      expect "from the stage" "value 7" "$hints" $library
      expect "without it" "value 9" "" $library
      touch -d '2020-01-02' $library.file
      expect "when the file has changed" "value 9" "$hints" $library
    done
  done
  rm new.file
done

# Whoever writes has none, and is told so once; whoever cannot stage reads all the same.
: >said
run "forebay_stage=$work/stages" hdf5 write written.file 1 || failed=1
[ "$(grep -c 'opened to write, so it is not staged' said)" = 1 ] || { echo "writing with a stage says:" && cat said && failed=1; }
cp hdf5.other hdf5.file
: >said
expect "without a folder" "value 9" "forebay_stage=$work/nowhere" hdf5
grep -q 'nowhere.*read without a stage' said || { echo "a folder that is missing says:" && cat said && failed=1; }

list=$("$forebay" stage stages) || failed=1
grep -q 'of .*, extent' <<<"$list" || grep -q 'whole\|compact' <<<"$list" || { echo "forebay stage says: $list" && failed=1; }
"$forebay" stage --drop stages >/dev/null || failed=1
[ -z "$(ls stages)" ] || { echo "--drop leaves $(ls stages)" && failed=1; }
exit $failed
