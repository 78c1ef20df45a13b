# shellcheck shell=bash
# The private root that ./dev runs in where the machine lacks the software stack: prepared once, entered by bubblewrap.
# Sourced by ./dev, which sets top (the checkout), cache (where roots are kept), recipe (what makes one) and suite (which one).

install_bubblewrap() {
  local options=(-y -q --no-install-recommends -o DPkg::Lock::Timeout=300)
  export DEBIAN_FRONTEND=noninteractive
  if ! have bwrap; then
    show "installing bubblewrap"
    apt-get install "${options[@]}" bubblewrap >/dev/null 2>&1 ||
      { apt-get update -q && apt-get install "${options[@]}" bubblewrap; } >&2 ||
      die "apt-get could not install bubblewrap (see above). Install it by hand, then run the command again."
  fi
  bwrap --dev-bind / / true ||
    die "bubblewrap may not make a mount namespace here. Give the container the right to (docker run --privileged)," \
      "or install the stack itself (FOREBAY_DEV=native says what is missing)."
}

# Sets key and root. A root is complete when it carries its final name; only the holder of the lock makes or removes one.
prepare_root() {
  key=$suite-$({ cat "$recipe" && uname -m; } | sha256sum | cut -c1-12)
  root=$cache/root-$key
  if [ -d "$root" ] && have bwrap; then return; fi
  install_bubblewrap
  mkdir -p "$cache"
  once make_root
}

# Calls $1, which makes $root, unless another ./dev has done so meanwhile.
once() {
  exec 9>"$cache/lock"
  until flock -w 15 9; do show "another ./dev is preparing the root; waiting for it"; done
  if [ ! -d "$root" ]; then
    rm -rf --one-file-system "$cache"/root-*.tmp # half-made ones; we hold the lock, so nobody is at work on them
    "$1"
  fi
  exec 9>&-
}

# Sets root to a larger one, with the packages of a test's list, too: prepare_larger_root NAME TEST WHAT MEGABYTES. The base root
# must be there.
prepare_larger_root() {
  base=$root larger_recipe=$top/.ci/make-larger-root larger_packages=$top/tests/$2/packages larger_what=$3 larger_size=$4
  root=$cache/root-$1-$({ echo "$key" && cat "$larger_recipe" "$larger_packages"; } | sha256sum | cut -c1-12)
  [ -d "$root" ] || once make_larger_root
}
prepare_apps_root() { prepare_larger_root apps apps applications 4000; }
prepare_file_systems_root() { prepare_larger_root file-systems file_systems "file systems" 2500; }

make_larger_root() {
  need_room "$larger_size"
  show "preparing a private root with the $larger_what, once: $root"
  follow_recipe "$larger_recipe" "$root.tmp" "$base" "$larger_packages"
  mv "$root.tmp" "$root"
  show "root ready"
}

make_root() {
  need_room 3000
  show "preparing a private Debian $suite root, once: $root"
  follow_recipe "$recipe" "$root.tmp" "$suite"
  mv "$root.tmp" "$root"
  show "root ready"
}

# need_room MB, while a root is made
need_room() {
  local room
  room=$(df --output=avail -k "$cache" | tail -n 1)
  [ "$room" -gt "$1"000 ] || [ -n "${FOREBAY_DEV_RECIPE:-}" ] ||
    die "$cache has $((room / 1024)) MB free; the root needs $1 while it is made. XDG_CACHE_HOME can point elsewhere."
}

# Runs a recipe, which tells its steps on fd 3, and shows them; its output goes to the root's log.
follow_recipe() {
  local log=$root.log line pid
  # The recipe has a pid namespace of its own, so that nothing of it outlives this script, however that ends.
  exec 8< <(exec setpriv --pdeathsig KILL unshare --pid --fork --kill-child --mount-proc \
    bash "$@" 3>&1 >"$log" 2>&1 </dev/null 9>&-)
  pid=$!
  while true; do
    if IFS= read -r -t 15 -u 8 line; then
      show "$line"
    elif [ $? -gt 128 ]; then
      show "  ... $(tail -n 1 "$log" | tr '\r' '\n' | tail -n 1 | cut -c1-80)"
    else
      break
    fi
  done
  exec 8<&-
  wait "$pid" || explain_failed_root "$log"
}

explain_failed_root() {
  say "the root could not be prepared. The log ends:"
  tail -n 15 "$1" | sed 's/^/    /' >&2
  if grep -qiE 'no space left' "$1"; then
    say "The disk is full: make room, or let XDG_CACHE_HOME name a place with 3 GB."
  elif grep -qiE 'could not resolve|temporary failure|connection (refused|timed out)|(could not|unable to) connect' "$1"; then
    say "The package mirror was not reached: check the network (http_proxy is honoured), then run the command again."
  elif grep -qiE 'NO_PUBKEY|not signed|EXPKEYSIG' "$1"; then
    say "This machine's keys are too old for Debian $suite: apt-get install --only-upgrade debian-archive-keyring"
  else
    say "Run the command again; if it fails the same way, read the log from its first error on."
  fi
  die "The whole log: $1"
}

# Places where the private root's own files must be seen, never the machine's.
belongs_to_root() {
  case $1/ in
    // | /usr/* | /etc/* | /bin/* | /sbin/* | /lib/* | /lib32/* | /lib64/* | /libx32/* | /proc/* | /sys/* | /dev/* | /run/*) ;;
    *) return 1 ;;
  esac
}

declare -A bound=()
bind() {
  local parent=$1
  while [ -n "$parent" ]; do
    [ -z "${bound[$parent]:-}" ] || return 0
    parent=${parent%/*}
  done
  bound[$1]=1
}

# Makes a place that an argument names visible. For a file that is its directory, since programs write beside a file and
# rename; for something that does not exist yet, the nearest directory that does.
bind_place() {
  local place=$1
  while [ ! -d "$place" ]; do
    if [ -e "$place" ] && [ -z "${place%/*}" ]; then break; fi # a file in /: by itself
    place=${place%/*}
    [ -n "$place" ] || return 0
  done
  belongs_to_root "$place" || bind "$place"
}

bind_argument() {
  local word path words=("$1" "${1#*=}")
  # A command for a shell holds words of its own.
  while IFS= read -r word; do words+=("$word"); done < <(tr -s ' \t\n"'\''`=;|&<>(),:' '\n' <<<"$1")
  for word in "${words[@]}"; do
    case $word in
      *$'\n'* | *://*) continue ;;
      '~/'*) path=$HOME/${word#'~/'} ;;
      /*) path=$word ;;
      .. | */*) path=$PWD/$word ;;
      *) continue ;;
    esac
    # As it is written, and where links lead.
    bind_place "$(realpath -ms -- "$path")"
    bind_place "$(realpath -m -- "$path")"
  done
}

# Runs this script's inner half in the root: enter_root CALL ARGUMENT..., where CALL is exec or nothing.
enter_root() {
  local call=$1 entry path parent name argument
  shift
  cd "$(pwd -P)"
  mkdir -p "$cache/ccache"
  bind "$top" && bind /tmp && bind "$cache/ccache"
  [ ! -d /var/tmp ] || bind /var/tmp
  [ ! -d "$top/../shared" ] || bind_place "$(realpath "$top/../shared")"
  [ -d "$root$PWD" ] || bind "$PWD"
  for argument in "${TMPDIR:-}" "$@"; do bind_argument "$argument"; done

  # The root's own parts are read-only and / is a small file system of its own, so nothing a run does stays in the root.
  local options=(--die-with-parent --cap-add ALL)
  for entry in "$root"/*; do
    [ ! -L "$entry" ] || options+=(--symlink "$(readlink "$entry")" "/${entry##*/}")
  done
  options+=(--ro-bind "$root/usr" /usr --ro-bind "$root/etc" /etc)
  options+=(--dev-bind /dev /dev --proc /proc --bind /sys /sys --tmpfs /run)
  options+=(--perms 0644 --bind-data 11 /etc/hosts)
  [ ! -e /etc/resolv.conf ] || options+=(--perms 0644 --bind-data 12 /etc/resolv.conf)
  if belongs_to_root "$HOME"; then HOME=/tmp; else options+=(--tmpfs "$HOME"); fi
  while IFS= read -r path; do
    # A checkout below /usr needs a place in the root to be seen at.
    if belongs_to_root "$path"; then mkdir -p "$root$path"; fi
    parent=${path%/*}
    [ -z "$parent" ] || options+=(--perms 0755 --dir "$parent") # by itself bubblewrap makes it for root alone
    options+=(--bind "$path" "$path")
  done < <(printf '%s\n' "${!bound[@]}" | LC_ALL=C sort)
  options+=(--remount-ro / --chdir "$PWD")

  while IFS= read -r name; do
    case $name in
      FOREBAY_* | CMAKE_BUILD_PARALLEL_LEVEL) ;;
      # What speaks of this machine's compilers, libraries and locales is wrong in there.
      LD_* | PYTHON* | PERL* | CC | CXX | CPP | FC | F77 | F90 | *FLAGS | CPATH | *_INCLUDE_PATH | LIBRARY_PATH | PKG_CONFIG* | \
        CMAKE_* | *_ROOT | *_HOME | *_DIR | OPAL_PREFIX | CONDA* | MODULE* | BASH_ENV | ENV | CDPATH | LANG | LANGUAGE | LC_*)
        options+=(--unsetenv "$name") ;;
    esac
  done < <(compgen -e)
  options+=(--setenv PATH /usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin --setenv LC_ALL C.UTF-8)
  options+=(--setenv HOME "$HOME" --setenv CCACHE_DIR "$cache/ccache")
  options+=(--setenv FOREBAY_STACK "$key" --setenv FOREBAY_BUILD_PREFIX "$build_prefix")
  $call bwrap "${options[@]}" /bin/bash "$top/dev" "$@" 11< <(cat /etc/hosts) 12< <(cat /etc/resolv.conf 2>/dev/null)
}

# Root's files in somebody else's checkout go to their owner, and so does what was written where arguments point.
hand_over() {
  local path
  [ ! -d "$top/build" ] || chown -R -h --from=0 "$owner" "$top/build"
  for path in "$top" "${!bound[@]}"; do
    case $path in /tmp | /var/tmp | "$cache"*) continue ;; esac
    find "$path" -xdev -path "$top/build" -prune -o -user 0 -newer "$stamp" -exec chown -h "$owner" {} +
  done
  rm -f "$stamp"
}
