# Programs and headers of the system: installed where that can be done, else named.

# What shows that it is there, its Debian package, and what it is for.
SYSTEM_PACKAGES="
gcc            gcc              compiles runc
stdio.h        libc6-dev        compiles runc
seccomp.h      libseccomp-dev   runc is linked to it
tar            tar              packs images
openssl        openssl          makes the certificates
ip             iproute2         makes the bridge and its routes
ss             iproute2         sees whether ports are free
iptables       iptables         rules of kube-proxy and of the bridge
conntrack      conntrack        forgets connections of a cluster that has ended
nft            nftables         takes away the tables that iptables made
mount          mount            the mounts of containers
setsid         util-linux       starts what outlives the script
flock          util-linux       lets one run at a time change the cluster
curl           curl             asks etcd to compact
unzip          unzip            unpacks the definitions of the Gateway API
"

is_installed() {
  case $1 in
  *.h) [ -e "/usr/include/$1" ] ;;
  *) command -v "$1" >/dev/null ;;
  esac
}

# Lines "PACKAGE PURPOSE" of what is not there.
missing_packages() {
  local sign package purpose
  while read -r sign package purpose; do
    [ -z "$sign" ] || is_installed "$sign" || echo "$package $purpose"
  done <<<"$SYSTEM_PACKAGES"
}

# Installs what is missing on Debian and its kin as root; otherwise says what to install.
ensure_packages() {
  local missing names
  command -v go >/dev/null || die "Go is missing, which compiles the cluster: see https://go.dev/doc/install (README.md says which version)"
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  names=$(cut -d' ' -f1 <<<"$missing" | sort -u | tr '\n' ' ')
  names=${names% }
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    die "these packages are missing (names of Debian; as root they would be installed now): $names"
  fi
  say "installing Debian packages with apt-get:"
  sort -u <<<"$missing" | while read -r package purpose; do say "  $package: $purpose"; done
  apt_get update || say "apt-get update failed; trying with the lists that are there"
  # shellcheck disable=SC2086 # several names
  apt_get install --yes --no-install-recommends $names || die "these packages could not be installed: $names"
  missing=$(missing_packages)
  [ -z "$missing" ] || die "still missing after the installation: $missing"
}

# Waits for another apt-get up to five minutes; prints only when it fails.
apt_get() {
  local out
  out=$(DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" 2>&1 9>&-) || { say "$out"; return 1; }
}
