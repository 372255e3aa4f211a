# Folders, names and addresses of the local provider. Every address is private to this machine; routes keep them on the
# bridge.

CACHE=${CLUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/e2e-cluster}
STATE=${CLUSTER_STATE:-$CACHE/state}
BIN=$CACHE/bin
IMAGES=$CACHE/images

BRIDGE=${CLUSTER_BRIDGE:-e2ek8s0}
CGROUP=${CLUSTER_CGROUP:-e2ek8s}
NODE_NAME=${CLUSTER_NODE_NAME:-node-1}
NODE_IP=${CLUSTER_NODE_IP:-172.31.254.1}
POD_CIDR=${CLUSTER_POD_CIDR:-10.244.0.0/24}
POD_GATEWAY=${POD_CIDR%.*}.1
SERVICE_CIDR=${CLUSTER_SERVICE_CIDR:-10.96.0.0/16}
SERVICE_FIRST=${SERVICE_CIDR%.*.*}.0.1
DNS_IP=${SERVICE_CIDR%.*.*}.0.10
LB_CIDR=${CLUSTER_LB_CIDR:-172.31.255.0/24}
API_PORT=${CLUSTER_API_PORT:-6443}
ETCD_PORT=${CLUSTER_ETCD_PORT:-12379}
ETCD_PEER_PORT=$((ETCD_PORT + 1))
PAUSE_IMAGE=registry.k8s.io/pause:3.10.2
NODE_IMAGE=cluster.local/node:24
EXAMPLES_IMAGE=docker.io/library/node:24-alpine

KUBE_VERSION=$(awk '$1 == "k8s.io/kubernetes" { print $2 } $2 == "k8s.io/kubernetes" { print $3 }' "$HERE/mods/kube/go.mod" | head -1)
PKI=$STATE/pki
KCFG=$STATE/kubeconfig
RUN=$STATE/run
# A shim's socket is RUN/s/ and 64 characters, and a Unix socket's path has 107 at most.
[ "${#RUN}" -le 40 ] || RUN=/run/e2e-cluster
LOG=$STATE/log
SOCK=$RUN/containerd.sock
IPT="iptables -w 10"

# The Node.js of this project, whatever the machine's own is.
NODE=$(cd "$HERE/../.." && pwd)/scripts/node
