# The conformance suite of the Gateway API (../conformance/suite) and the echo server that it sends requests to. The cluster
# itself needs neither.

SUITE=$CACHE/conformance
# The names by which the suite asks for the echo server.
ECHO_TAGS="v0.1.0 v0.2.0"

build_conformance() {
  # The suite asks for a newer Go than the cluster does; Go fetches it.
  export GOTOOLCHAIN=auto
  prepare_suite
  gobuild conformance.test "$SUITE" ./. "" 0 "test -c"
  gobuild echo-basic "$SUITE" sigs.k8s.io/gateway-api-conformance-images/echo-basic ""
  build_echo_image
}

# Puts the suite's module into the cache, where the module of the echo server is made beside it.
prepare_suite() {
  local from=$HERE/../conformance/suite key
  key=$(cat "$from"/* | sha256sum | cut -c1-16)
  [ "$(cat "$SUITE/key" 2>/dev/null)" != "$key" ] || return 0
  # Its sources are not in its module, by which a program is known to be current.
  rm -rf "$SUITE" "$BIN/echo-basic"
  mkdir -p "$SUITE"
  cp "$from"/go.* "$from"/*.go "$SUITE/"
  compile "sources of the echo server" "$from" 0 "$from/echo-source.sh" "$SUITE/images"
  echo "$key" >"$SUITE/key"
}

build_echo_image() {
  local r=$IMAGES/root tags=() v
  mkdir -p "$r"
  skeleton "$r/base"
  rm -rf "$r/echo"; mkdir -p "$r/echo"; cp "$BIN/echo-basic" "$r/echo/echo-basic"
  for v in $ECHO_TAGS; do tags+=(--tag "registry.k8s.io/gateway-api/conformance/echo-basic:$v"); done
  image echo-basic "$BIN/echo-basic" "$r/base/etc/passwd" -- "${tags[@]}" --tree "$r/base" --tree "$r/echo" --entrypoint '["/echo-basic"]'
}

# Prints the path of the suite's program, ready to be run against the cluster that is up.
cmd_conformance() {
  command -v go >/dev/null || die "Go is missing, which compiles the suite: see https://go.dev/doc/install"
  build_conformance
  ! running kube-apiserver || load_image "$IMAGES/echo-basic.tar"
  echo "$BIN/conformance.test"
}
