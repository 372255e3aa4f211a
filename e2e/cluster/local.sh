#!/usr/bin/env bash
# Provider `local`: a genuine single-node Kubernetes from Go modules and Debian packages, without a container engine or
# an image registry. See README.md.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in settings support packages build images conformance cert-manager processes pki network cgroups components up down status faults; do
  . "$HERE/local/$part.sh"
done

cmd_build() {
  ensure_packages
  build_programs
  build_images
  [ "${1:-}" = conformance ] || return 0
  build_conformance
}

is_up() { running kube-apiserver || die "no cluster is running: run 'up' first"; }

command=${1:-}
[ $# = 0 ] || shift
case $command in
build) take_lock build; cmd_build "$@" ;;
up) take_lock up; cmd_build; cmd_up ;;
down) take_lock down; cmd_down "$@" ;;
load) is_up; [ $# -gt 0 ] || die "load IMAGE.tar..."; for f; do load_image "$f"; done ;;
status) cmd_status ;;
kubeconfig) is_up; echo "$KCFG/admin.conf" ;;
bin) echo "$BIN" ;;
conformance) take_lock conformance; cmd_conformance ;;
cert-manager) is_up; take_lock cert-manager; cmd_cert_manager ;;
node-image) echo "$IMAGES/layout/node24" ;;
# kube-proxy gives NodePorts on the loopback interface as well.
host) echo 127.0.0.1 ;;
env) echo "export KUBECONFIG=$KCFG/admin.conf PATH=$BIN:\$PATH" ;;
kubectl) k "$@" ;;
logs) echo "$LOG" ;;
audit-log) echo "$LOG/audit.log" ;;
api-server) cmd_api_server "$@" ;;
compact-etcd) is_up; cmd_compact_etcd ;;
*) die "local.sh build [conformance] | up | down | load IMAGE.tar... | status | kubeconfig | bin | conformance | cert-manager | node-image | host | env | kubectl ARGS... | logs | audit-log | api-server stop|start|cut|block|heal | compact-etcd" ;;
esac
