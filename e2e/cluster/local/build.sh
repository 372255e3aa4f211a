# Compiles the cluster's programs from Go modules, each one only when its module, its sources or its flags have changed.

# gobuild OUT MODULE PACKAGE LDFLAGS [CGO [VERB]]: the module is a folder of mods/, or one with its full path.
gobuild() {
  local out=$BIN/$1 dir=$2 pkg=$3 ld=$4 cgo=${5:-0} verb=${6:-build} key t tags=()
  [[ $dir = /* ]] || dir=$HERE/mods/$dir
  key=$({ cat "$dir/go.mod" "$dir/go.sum"; [[ $pkg != ./* ]] || cat "$dir/$pkg"/*.go; go env GOVERSION; echo "$pkg $ld $cgo"; } | sha256sum | cut -c1-16)
  if [ -x "$out" ] && [ "$(cat "$out.key" 2>/dev/null)" = "$key" ]; then return; fi
  t=$(now)
  say "building $1 ..."
  [ "$cgo" = 1 ] && tags=(-tags netgo,osusergo,seccomp)
  mkdir -p "$(dirname "$out")"
  # shellcheck disable=SC2086 # "test -c" is two words
  compile "$1" "$dir" "$cgo" go $verb -trimpath "${tags[@]}" -ldflags "-s -w $ld" -o "$out" "$pkg"
  echo "$key" >"$out.key"
  say "built $1 in $(since "$t")"
}

# compile NAME FOLDER CGO COMMAND...: with a line of progress now and then, and again when the network failed.
compile() {
  local name=$1 dir=$2 cgo=$3 log=$CACHE/build.log attempt
  shift 3
  for attempt in 1 2 3; do
    (
      cd "$dir"
      CGO_ENABLED=$cgo GOFLAGS='-buildvcs=false -mod=readonly' exec "$@"
    ) >"$log" 2>&1 9>&- &
    watch_compile "$name" "$!" "$log"
    if wait "$!"; then return; fi
    if [ "$attempt" = 3 ] || ! grep -qE "$NETWORK_FAILURE" "$log"; then break; fi
    say "the network failed while modules of $name were fetched; trying again in 10 s: $(grep -m1 -E "$NETWORK_FAILURE" "$log")"
    sleep 10
  done
  tail -n 50 "$log" >&2
  die "build of $name failed"
}

NETWORK_FAILURE='dial tcp|i/o timeout|TLS handshake|connection reset|unexpected EOF|stream error|(429|50[0-9]) [A-Z]'

# Says every 30 s that the compiler is still at work, until it ends.
watch_compile() {
  local name=$1 pid=$2 log=$3 seconds=0
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    [ $((seconds % 30)) != 0 ] || say "  $name: $seconds s so far, $(grep -c '^go: downloading' "$log") modules fetched"
  done
}

build_programs() {
  local v=k8s.io/component-base/version c p
  local kld="-X $v.gitVersion=$KUBE_VERSION -X $v.gitMajor=1 -X $v.gitMinor=$(cut -d. -f2 <<<"$KUBE_VERSION") -X $v.gitTreeState=clean"
  kld="$kld -X k8s.io/client-go/pkg/version.gitVersion=$KUBE_VERSION"
  for c in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl; do
    gobuild "$c" kube "k8s.io/kubernetes/cmd/$c" "$kld"
  done
  gobuild lbpool kube ./lbpool ""
  gobuild pause kube ./pause ""
  for c in containerd containerd-shim-runc-v2 ctr; do
    gobuild "$c" containerd "github.com/containerd/containerd/v2/cmd/$c" ""
  done
  gobuild runc runc github.com/opencontainers/runc "-linkmode=external -extldflags=-static" 1
  for p in main/bridge ipam/host-local meta/portmap; do
    gobuild "cni/${p#*/}" cni "github.com/containernetworking/plugins/plugins/$p" ""
  done
  gobuild etcd etcd go.etcd.io/etcd/server/v3 ""
  gobuild coredns coredns ./dns ""
  gobuild helm helm helm.sh/helm/v4/cmd/helm ""
}
