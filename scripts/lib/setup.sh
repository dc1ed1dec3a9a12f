# shellcheck shell=bash
# Sets up what building and running need. Sourced by scripts/flce-repro and scripts/test; says what it does on standard
# error and leaves standard output to the program. Expects: root.
: "${root:?}"

python=${FLCE_PYTHON:-/usr/bin/python3}
build=$root/build/release
state=${FLCE_REPRO_HOME:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/flce-repro}
[[ $state == /* ]] || state=$PWD/$state
toolchain=$state/toolchain
readonly exit_environment=4 exit_internal=70

say() { printf 'flce-repro: %s\n' "$*" >&2; }
die() { local code=$1; shift; say "$*"; exit "$code"; }

# prepare_state: the state directory, or one line that says why not.
prepare_state() {
  local reason
  if ! reason=$(mkdir -p "$state/locks" "$state/logs" 2>&1); then
    die $exit_environment "the state directory $state cannot be used (${reason##*: }); set FLCE_REPRO_HOME to a folder that you can write"
  fi
  [[ -w $state && -w $state/locks && -w $state/logs ]] ||
    die $exit_environment "the state directory $state is not writable; set FLCE_REPRO_HOME to a folder that you can write"
}

# missing_packages FILE...: the packages of these lists that are not installed.
missing_packages() {
  local name rest
  while read -r name rest; do
    [[ -z $name || $name == \#* ]] && continue
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || printf '%s ' "$name"
  done < <(cat "$@")
}

# install_packages FILE...: with apt as root; else the one command to run.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    local program
    for program in cmake ninja g++ git patch; do
      command -v $program >/dev/null || die $exit_environment "$program is missing, and this is no Debian or Ubuntu: install what scripts/packages.txt lists"
    done
    return 0
  fi
  local missing log=$state/logs/apt.log
  missing=$(missing_packages "$@")
  [[ -n $missing ]] || return 0
  if [[ $(id -u) != 0 ]]; then
    die $exit_environment "packages are missing; run:  sudo apt-get install -y --no-install-recommends ${missing% }"
  fi
  say "installing packages: ${missing% }"
  # shellcheck disable=SC2086  # a list of names
  if ! DEBIAN_FRONTEND=noninteractive apt-get update >"$log" 2>&1 ||
     ! DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >>"$log" 2>&1; then
    tail -n 5 "$log" >&2
    die $exit_environment "apt-get could not install ${missing% } (log: $log)"
  fi
}

# install_toolchain: uv and pybind11, pinned by hash. The list is copied beside them last: that is the stamp.
install_toolchain() {
  local stamp=$toolchain/installed.txt log=$state/logs/toolchain.log
  if cmp -s "$root/scripts/toolchain.txt" "$stamp" && [[ -x $toolchain/bin/uv ]]; then
    touch "$stamp"
    return 0
  fi
  say "installing uv and pybind11 into $toolchain"
  rm -rf "$toolchain"
  if ! "$python" -m venv "$toolchain" >"$log" 2>&1; then
    tail -n 3 "$log" >&2
    die $exit_environment "$python cannot make the toolchain environment (log: $log)"
  fi
  if ! "$toolchain/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --require-hashes --only-binary :all: \
      -r "$root/scripts/toolchain.txt" >>"$log" 2>&1; then
    rm -rf "$toolchain"
    if grep -q 'No space left' "$log"; then die $exit_environment "the disk of $state is full; free space, or set FLCE_REPRO_HOME"; fi
    die $exit_environment "cannot fetch uv and pybind11 from the Python package index: $(grep -i error "$log" | tail -n 1) (log: $log)"
  fi
  cp "$root/scripts/toolchain.txt" "$stamp"
}

# show_ninja: passes "[done/total]" lines on, on a terminal over one another, in a log every tenth.
show_ninja() {
  local line width shown=-1
  width=$(tput cols 2>/dev/null || echo 80)
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
    if [[ -t 2 ]]; then
      printf '\r\033[K%.*s' "$((width - 1))" "building $line" >&2
    elif ((BASH_REMATCH[1] * 10 / BASH_REMATCH[2] != shown)); then
      shown=$((BASH_REMATCH[1] * 10 / BASH_REMATCH[2]))
      say "building ${BASH_REMATCH[0]}"
    fi
  done
  [[ -t 2 ]] && printf '\r\033[K' >&2
  return 0
}

# build_targets [TARGET...]: a release build of these, or of everything.
build_targets() {
  local log=$state/logs/build.log pybind
  pybind=$("$toolchain/bin/python" -m pybind11 --cmakedir)
  if ! (cd "$root" && cmake --preset default -Dpybind11_DIR="$pybind" -DFLCE_PYTHON="$python") >"$log" 2>&1; then
    grep -A 4 'CMake Error' "$log" | tail -n 12 >&2
    die $exit_internal "the build does not configure (log: $log)"
  fi
  ninja -C "$build" "$@" 2>&1 | tee -a "$log" | show_ninja
  if [[ ${PIPESTATUS[0]} != 0 ]]; then
    tail -n 20 "$log" >&2
    die $exit_internal "the build failed (log: $log)"
  fi
}
