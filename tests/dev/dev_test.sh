#!/bin/bash
# ./dev's outer half, tried with recipes that make a tiny root in no time: what it sees, what it refuses, what it leaves.
# usage: dev_test.sh DEV. Needs root and bubblewrap; exits 77 (skipped) without.
# shellcheck disable=SC2016 # commands in single quotes are for the shell inside
set -uo pipefail
dev=$(readlink -f "$1")
if [ "$(id -u)" != 0 ] || ! bwrap --dev-bind / / true 2>/dev/null; then
  echo "not root, or bubblewrap may not make namespaces" && exit 77
fi

work=$(mktemp -d /var/tmp/forebay-dev-test.XXXXXX)
outside=$(mktemp -d "$HOME/forebay-dev-test.XXXXXX") # a place that is not seen unless it is named
trap 'rm -rf "$work" "$outside"' EXIT
unset FOREBAY_STACK FOREBAY_BUILD_PREFIX
export XDG_CACHE_HOME=$work/cache FOREBAY_DEV=root FOREBAY_DEV_RECIPE=$work/recipe
roots=$XDG_CACHE_HOME/forebay

failures=0
check() { # check DESCRIPTION COMMAND...
  if "${@:2}"; then echo "ok   $1"; else echo "FAIL $1" && failures=$((failures + 1)); fi
}
is() { [ "$1" = "$2" ] || { printf '  got      %s\n  expected %s\n' "$1" "$2" && false; }; }
has() { [[ $1 == *"$2"* ]] || { printf '  got      %s\n  expected to contain %s\n' "$1" "$2" && false; }; }

# A root with a shell and a few commands of this machine.
good_recipe() {
  cat >"$work/recipe" <<'R'
set -e
echo started >>"$(dirname "$1")/../../runs"
echo "making it" >&3
mkdir -p "$1"/usr/bin "$1"/usr/lib64 "$1"/etc
ln -s usr/bin "$1/bin" && ln -s usr/lib "$1/lib" && ln -s usr/lib64 "$1/lib64"
for tool in bash cat dirname getent id ls mkdir readlink rm sed touch; do
  path=$(command -v "$tool") && cp -L "$path" "$1/usr/bin/"
  for lib in $(ldd "$path" | grep -o '/[^ ]*'); do
    lib=/usr${lib#/usr} && mkdir -p "$1${lib%/*}" && cp -Ln "$lib" "$1$lib"
  done
done
mkdir -p "$1/usr/lib/locale" && cp -r /usr/lib/locale/C.utf8 "$1/usr/lib/locale/"
touch "$1/etc/hosts" "$1/etc/resolv.conf"
echo fake >"$1/etc/made-by"
echo "$2" >"$1/etc/made-for"
R
}
runs() { grep -c started "$work/runs" 2>/dev/null || true; }

# --- a recipe that fails: the tail of its log, no root
mkdir -p "$work/elsewhere"
printf 'echo trying >&3\nmkdir -p "$1/usr"\necho "Temporary failure resolving mirror" >&2\nexit 7\n' >"$work/recipe"
said=$("$dev" shell -c true 2>&1)
check "a failed recipe fails the command" is $? 1
check "its step is shown" has "$said" trying
check "the tail of its log is shown" has "$said" "Temporary failure resolving mirror"
check "it says what to do" has "$said" "check the network"
check "no root is taken for complete" is "$(find "$roots" -maxdepth 1 -name 'root-*' -not -name '*.tmp' -not -name '*.log')" ""

# --- a run that is killed half way leaves nothing running, and its remains are not used
printf 'mkdir -p "$1/usr"\ntouch "$1/half"\nexec sleep 1234.%s\n' $$ >"$work/recipe"
"$dev" shell -c true 2>/dev/null &
killed=$!
for _ in $(seq 100); do [ -z "$(find "$roots" -name half)" ] || break; sleep 0.1; done
{ kill -9 $killed && wait $killed; } 2>/dev/null
sleep 0.3
check "a killed run takes its recipe along" is "$(pgrep -f "sleep 1234[.]$$")" ""
good_recipe
# --- two first runs at once: one makes the root, both use it
"$dev" shell -c 'cat /etc/made-by' >"$work/first" 2>&1 &
first=$!
"$dev" shell -c 'cat /etc/made-by' >"$work/second" 2>&1
check "the second of two first runs succeeds" is $? 0
wait $first
check "the first of two first runs succeeds" is $? 0
check "both ran in the root" is "$(tail -qn 1 "$work/first" "$work/second" | tr '\n' ' ')" "fake fake "
check "the root was made once" is "$(runs)" 1
check "half-made roots are gone" is "$(find "$roots" -name '*.tmp' -o -name half)" ""

# --- what a command sees
cd "$work/elsewhere" || exit 1
mkdir -p "$outside/in" "$outside/with space" && echo map >"$outside/in/map.nc" && ln -s "$outside/in" "$work/elsewhere/link"
check "the current folder" is "$("$dev" shell -c pwd)" "$work/elsewhere"
check "nothing else of the machine" is "$("$dev" shell -c 'cd && ls -d forebay*' 2>/dev/null)" ""
check "a file that is named" is "$("$dev" shell -c 'cat "$0"' "$outside/in/map.nc")" map
check "a file in a command" is "$("$dev" shell -c "cat <$outside/in/map.nc")" map
check "a file by a relative path" is "$("$dev" shell -c 'cat "$0"' "$(realpath --relative-to=. "$outside")/in/map.nc")" map
check "a file behind a link" is "$("$dev" shell -c 'cat "$0"' link/map.nc)" map
"$dev" shell -c 'echo result >"${0#*=}"' "--json=$outside/new.json"
check "an output file that does not exist yet" is "$(cat "$outside/new.json")" result
"$dev" shell -c 'mkdir -p "$0" && echo deep >"$0/x"' "$outside/with space/d 1/d 2"
check "an output folder that does not exist yet, with spaces" is "$(cat "$outside/with space/d 1/d 2/x")" deep
check "the status of the command" is "$("$dev" shell -c 'exit 42'; echo $?)" 42
check "standard input" is "$(echo piped | "$dev" shell -c cat)" piped
check "/ refuses to swallow results" has "$("$dev" shell -c 'touch /lost' 2>&1)" "Read-only"
check "the root refuses changes" has "$("$dev" shell -c 'touch /usr/lost' 2>&1)" "Read-only"
check "this machine's compilers are forgotten" is "$(CC=cc PYTHONPATH=/x FOREBAY_HINTS=k=v "$dev" shell -c 'echo "${CC:-}${PYTHONPATH:-}$FOREBAY_HINTS"')" k=v

# --- whose the results are: a checkout of somebody else's, used by root
theirs=$work/checkout
mkdir -p "$theirs/.ci" "$theirs/build/root-release"
cp "$dev" "$theirs/dev" && cp "$(dirname "$dev")"/.ci/private-root.sh "$theirs/.ci/"
chown -R 12345:12345 "$theirs"
(cd "$theirs" && ./dev shell -c 'touch build/root-release/object result.json')
check "a result belongs to the owner of the checkout" is "$(stat -c %u "$theirs/result.json")" 12345
check "so does what was built" is "$(stat -c %u "$theirs/build/root-release/object")" 12345
# Not in this checkout: its build folder would change hands under tests that look whose it is.
mkdir -p "$work/of-root/.ci"
cp "$dev" "$work/of-root/dev" && cp "$(dirname "$dev")"/.ci/private-root.sh "$work/of-root/.ci/"
SUDO_UID=23456 SUDO_GID=23456 "$work/of-root/dev" shell -c 'touch "$0"' "$outside/by-sudo"
check "under sudo it belongs to the caller" is "$(stat -c %u "$outside/by-sudo")" 23456

# --- the next release and MPICH have roots and builds of their own
check "the base is made for trixie" is "$("$dev" shell -c 'cat /etc/made-for; echo $FOREBAY_BUILD_PREFIX')" $'trixie\nroot-'
check "--root forky is another root" is "$("$dev" --root forky shell -c 'cat /etc/made-for; echo $FOREBAY_BUILD_PREFIX' 2>/dev/null)" $'forky\nforky-'
check "--root mpich is a third" is "$(env -u OMPI_MCA_btl "$dev" --root mpich shell -c 'cat /etc/made-for; echo $FOREBAY_BUILD_PREFIX; echo ${MPIR_CVAR_POLLS_BEFORE_YIELD:-none}${OMPI_MCA_btl:-}' 2>/dev/null)" $'mpich\nmpich-\n1'
check "no other release is known" is "$("$dev" --root sid shell -c true >/dev/null 2>&1; echo $?)" 1
printf 'cp -a "$2" "$1" && echo applications >>"$1/etc/made-for"\n' >"$work/of-root/.ci/make-larger-root"
mkdir -p "$work/of-root/tests/apps" && echo "all: some" >"$work/of-root/tests/apps/packages"
check "--root apps is the base with more" is "$("$work/of-root/dev" --root apps shell -c 'cat /etc/made-for; echo $FOREBAY_BUILD_PREFIX' 2>/dev/null)" $'trixie\napplications\nroot-'
check "and has a shell only" has "$("$dev" --root apps build 2>&1)" "./dev --root apps shell"
check "--root and the machine's own stack contradict" is "$(FOREBAY_DEV=native "$dev" --root forky shell -c true >/dev/null 2>&1; echo $?)" 1

# --- options of the demo and of benchmarks are known without a build, a root, or being root
for command in "demo --help" "bench pnetcdf --help" "bench tcio -h" "test-apps --help"; do
  # shellcheck disable=SC2086 # words of a command
  said=$(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$work" XDG_CACHE_HOME="$work/none" bash "$dev" $command 2>&1)
  check "./dev $command answers" is $? 0
  check "with the options" has "$said" --ranks
done
for command in "demo --bogus" "bench pnetcdf --ranks 2 --bogus=3"; do
  # shellcheck disable=SC2086 # words of a command
  said=$(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$work" XDG_CACHE_HOME="$work/none" bash "$dev" $command 2>&1)
  check "./dev $command is refused" is $? 2
  check "for its option" has "$said" "no option '--bogus'"
done
check "and makes no root" is "$(ls "$work/none" 2>/dev/null)" ""

# --- refusals
said=$(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$work" XDG_CACHE_HOME="$work/none" bash "$dev" shell -c true 2>&1)
check "without root it refuses" is $? 2
check "and says what to install" has "$said" libhdf5-openmpi-dev
check "an unknown command is refused" is "$("$dev" demmo >/dev/null 2>&1; echo $?)" 2
echo "$failures failed"
[ $failures -eq 0 ]
