# cert-manager and the ACME server Pebble, which `make e2e-cert-manager` gets a certificate with. The cluster itself needs
# neither.

CERT_MANAGER=cert-manager
SOLVER_IMAGE=cluster.local/acmesolver:dev

build_cert_manager() {
  local pebble=github.com/letsencrypt/pebble/v2/cmd r=$IMAGES/root
  gobuild $CERT_MANAGER/controller cert-manager ./controller ""
  gobuild $CERT_MANAGER/solver cert-manager ./solver ""
  gobuild $CERT_MANAGER/pebble cert-manager $pebble/pebble ""
  gobuild $CERT_MANAGER/pebble-challtestsrv cert-manager $pebble/pebble-challtestsrv ""
  copy_definitions "$BIN/$CERT_MANAGER/crds"
  mkdir -p "$r"
  skeleton "$r/base"
  rm -rf "$r/acmesolver"; mkdir -p "$r/acmesolver"; cp "$BIN/$CERT_MANAGER/solver" "$r/acmesolver/solver"
  image acmesolver "$BIN/$CERT_MANAGER/solver" "$r/base/etc/passwd" -- --tag "$SOLVER_IMAGE" \
    --tree "$r/base" --tree "$r/acmesolver" --entrypoint '["/solver"]' --user 65532:65532
}

# The module of cert-manager holds its custom resource definitions.
copy_definitions() {
  local module
  module=$(cd "$HERE/mods/cert-manager" && go list -mod=readonly -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)
  mkdir -p "$1"
  install -m 644 "$module"/deploy/crds/*.yaml "$1/"
}

# Prints the folder of the programs and of the definitions, ready to be used with the cluster that is up.
cmd_cert_manager() {
  command -v go >/dev/null || die "Go is missing, which compiles cert-manager: see https://go.dev/doc/install"
  build_cert_manager
  load_image "$IMAGES/acmesolver.tar"
  echo "$BIN/$CERT_MANAGER"
}
