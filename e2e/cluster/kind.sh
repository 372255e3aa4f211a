#!/usr/bin/env bash
# Provider `kind`: one node inside the user's own Docker, with the user's own kind, kubectl and helm. See README.md.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
NAME=${CLUSTER_KIND_NAME:-svc-gateway}
CONFIG=${XDG_CACHE_HOME:-$HOME/.cache}/e2e-cluster/kind-$NAME.kubeconfig
NODE=$NAME-control-plane

die() { printf 'cluster: %s\n' "$*" >&2; exit 1; }
for c in docker kind kubectl helm; do command -v "$c" >/dev/null || die "$c is needed for CLUSTER=kind"; done
exists() { kind get clusters 2>/dev/null | grep -qxF "$NAME"; }
manifests=/etc/kubernetes/manifests

command=${1:-}
[ $# = 0 ] || shift
case $command in
build) ;;
up)
  ! exists || die "already up"
  mkdir -p "$(dirname "$CONFIG")"
  kind create cluster --name "$NAME" --config "$ROOT/config/kind/cluster.yaml" --kubeconfig "$CONFIG" --wait 120s
  ;;
down) kind delete cluster --name "$NAME" --kubeconfig "$CONFIG"; rm -f "$CONFIG" ;;
load) for image; do kind load docker-image --name "$NAME" "$image"; done ;;
status) exists || die "not running"; kubectl --kubeconfig "$CONFIG" get nodes,pods -A -o wide ;;
kubeconfig) exists || die "no cluster is running: run 'up' first"; echo "$CONFIG" ;;
bin) ;;
host) docker inspect --format '{{ (index .NetworkSettings.Networks "kind").IPAddress }}' "$NODE" ;;
# Compiled as for the other cluster; the node fetches the images.
conformance) exec "$HERE/local.sh" conformance ;;
env) echo "export KUBECONFIG=$CONFIG" ;;
kubectl) kubectl --kubeconfig "$CONFIG" "$@" ;;
cert-manager) die "cert-manager: only with CLUSTER=local" ;;
logs | audit-log) ;;
api-server)
  # The kubelet ends and starts static pods when their files go and come.
  case ${1:-} in
  stop) docker exec "$NODE" mv $manifests/kube-apiserver.yaml /etc/kubernetes/ ;;
  start) docker exec "$NODE" mv /etc/kubernetes/kube-apiserver.yaml $manifests/ ;;
  *) die "api-server stop | start" ;;
  esac
  ;;
compact-etcd) die "compact-etcd: only with CLUSTER=local" ;;
*) die "kind.sh up | down | load IMAGE... | status | kubeconfig | bin | conformance | host | env | kubectl ARGS... | api-server stop|start" ;;
esac
