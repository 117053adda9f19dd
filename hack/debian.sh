# shellcheck shell=bash
# Gets packages of the machine's Debian or Ubuntu for the integration tests. They are unpacked and not installed: that takes no rights,
# and nothing else on the machine changes. Sourced by the scripts that put programs into bin/.

# A mirror that does not answer must not hold the tests up.
readonly patience=(-o Acquire::Retries=1 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)

# give_up REASON ends a script: one line on standard output says why.
give_up() {
  echo "$1"
  exit 1
}

# unpack_debian WORK COMMAND... PACKAGE unpacks into WORK/root what apt-get gets by a command such as `download`. Packages are asked
# for with the machine's lists, then with lists of its own, as those of the machine may be missing or old.
unpack_debian() {
  local work=$1 package=${*: -1} tool deb
  shift
  for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || give_up "this machine has no $tool to get the package $package with"
  done
  echo "Getting the Debian package $package for the integration tests" >&2
  apt_get "$work" "$@" || apt_get_afresh "$work" "$@" ||
    give_up "the package $package cannot be downloaded: $(tail -n 1 "$work/log" | cut -c 1-200)"
  for deb in "$work"/packages/*.deb; do
    dpkg-deb -x "$deb" "$work/root" || give_up "the package ${deb##*/} cannot be unpacked"
  done
}

# apt_get WORK ARG... gets packages into WORK/packages.
apt_get() {
  local work=$1
  shift
  mkdir -p "$work/packages/partial"
  (cd "$work/packages" && timeout 300 apt-get -y "${patience[@]}" -o Debug::NoLocking=1 -o Dir::Cache::archives="$work/packages" "$@" \
    >"$work/log" 2>&1) && compgen -G "$work/packages/*.deb" >/dev/null
}

# apt_get_afresh does the same with package lists of its own.
apt_get_afresh() {
  local work=$1 own
  shift
  own=(-o Dir::State="$work/state" -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache="$work/cache")
  mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
  timeout 300 apt-get "${patience[@]}" "${own[@]}" -o APT::Update::Error-Mode=any update >"$work/log" 2>&1 &&
    apt_get "$work" "${own[@]}" "$@"
}
