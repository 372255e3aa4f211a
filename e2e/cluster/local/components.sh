# How each component is started.

start_etcd() {
  start etcd "$BIN/etcd" --name node --data-dir "$STATE/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "https://127.0.0.1:$ETCD_PORT" --advertise-client-urls "https://127.0.0.1:$ETCD_PORT" \
    --listen-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" --initial-advertise-peer-urls "http://127.0.0.1:$ETCD_PEER_PORT" \
    --initial-cluster "node=http://127.0.0.1:$ETCD_PEER_PORT" \
    --cert-file "$PKI/etcd.crt" --key-file "$PKI/etcd.key" --client-cert-auth --trusted-ca-file "$PKI/etcd-ca.crt"
}

# Records what ServiceAccounts ask for, those of the cluster's own parts aside: a test compares it with their rights.
start_apiserver() {
  cat >"$STATE/audit.yaml" <<EOF
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- { level: None, userGroups: ["system:serviceaccounts:kube-system"] }
- { level: Metadata, userGroups: ["system:serviceaccounts"] }
EOF
  start kube-apiserver "$BIN/kube-apiserver" \
    --bind-address="$NODE_IP" --advertise-address="$NODE_IP" --secure-port="$API_PORT" \
    --etcd-servers="https://127.0.0.1:$ETCD_PORT" --etcd-cafile="$PKI/etcd-ca.crt" --etcd-certfile="$PKI/etcd-client.crt" --etcd-keyfile="$PKI/etcd-client.key" \
    --client-ca-file="$PKI/ca.crt" --tls-cert-file="$PKI/apiserver.crt" --tls-private-key-file="$PKI/apiserver.key" \
    --kubelet-certificate-authority="$PKI/ca.crt" --kubelet-client-certificate="$PKI/apiserver-kubelet-client.crt" --kubelet-client-key="$PKI/apiserver-kubelet-client.key" \
    --kubelet-preferred-address-types=InternalIP \
    --requestheader-client-ca-file="$PKI/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$PKI/front-proxy-client.crt" --proxy-client-key-file="$PKI/front-proxy-client.key" \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local --service-account-signing-key-file="$PKI/sa.key" --service-account-key-file="$PKI/sa.pub" \
    --audit-policy-file="$STATE/audit.yaml" --audit-log-path="$LOG/audit.log" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true \
    --feature-gates=ClusterTrustBundle=true --runtime-config=certificates.k8s.io/v1beta1/clustertrustbundles=true \
    --service-cluster-ip-range="$SERVICE_CIDR" --profiling=false ${CLUSTER_APISERVER_ARGS:-}
}

# Elsewhere the controller manager loses its lease while the API server is away, and begins anew to watch over nodes.
# This one has no lease: without patience it would declare the node dead when the API server comes back.
start_controllers() {
  start kube-controller-manager "$BIN/kube-controller-manager" \
    --bind-address=127.0.0.1 --kubeconfig="$KCFG/controller-manager.conf" \
    --authentication-kubeconfig="$KCFG/controller-manager.conf" --authorization-kubeconfig="$KCFG/controller-manager.conf" \
    --leader-elect=false --kube-api-qps=300 --kube-api-burst=600 --use-service-account-credentials=true --service-account-private-key-file="$PKI/sa.key" --root-ca-file="$PKI/ca.crt" \
    --cluster-signing-cert-file="$PKI/ca.crt" --cluster-signing-key-file="$PKI/ca.key" --client-ca-file="$PKI/ca.crt" --requestheader-client-ca-file="$PKI/front-proxy-ca.crt" \
    --node-monitor-grace-period=10m --allocate-node-cidrs=true --cluster-cidr="$POD_CIDR" --node-cidr-mask-size="${POD_CIDR#*/}" --service-cluster-ip-range="$SERVICE_CIDR" --flex-volume-plugin-dir="$STATE/kubelet-plugins" --profiling=false
  start kube-scheduler "$BIN/kube-scheduler" --bind-address=127.0.0.1 --kube-api-qps=300 --kube-api-burst=600 --leader-elect=false --profiling=false \
    --kubeconfig="$KCFG/scheduler.conf" --authentication-kubeconfig="$KCFG/scheduler.conf" --authorization-kubeconfig="$KCFG/scheduler.conf"
}

start_containerd() {
  mkdir -p "$STATE/cni/conf" "$STATE/containerd"
  cat >"$STATE/cni/conf/10-e2e.conflist" <<EOF
{ "cniVersion": "1.0.0", "name": "e2e", "plugins": [
  { "type": "bridge", "bridge": "$BRIDGE", "isGateway": false, "hairpinMode": true,
    "ipam": { "type": "host-local", "dataDir": "$STATE/cni/ipam", "ranges": [[{ "subnet": "$POD_CIDR", "gateway": "$POD_GATEWAY" }]], "routes": [{ "dst": "0.0.0.0/0", "gw": "$POD_GATEWAY" }] } },
  { "type": "portmap", "capabilities": { "portMappings": true }, "backend": "iptables" } ] }
EOF
  cat >"$STATE/containerd/config.toml" <<EOF
version = 3
root = '$STATE/containerd/root'
state = '$RUN/containerd'
disabled_plugins = ['io.containerd.nri.v1.nri', 'io.containerd.snapshotter.v1.btrfs', 'io.containerd.snapshotter.v1.zfs', 'io.containerd.snapshotter.v1.devmapper', 'io.containerd.snapshotter.v1.blockfile', 'io.containerd.snapshotter.v1.erofs', 'io.containerd.tracing.processor.v1.otlp', 'io.containerd.internal.v1.tracing']
[plugins.'io.containerd.server.v1.grpc']
address = '$SOCK'
[plugins.'io.containerd.server.v1.ttrpc']
address = '$SOCK.ttrpc'
[plugins.'io.containerd.cri.v1.images']
snapshotter = 'overlayfs'
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '$PAUSE_IMAGE'
[plugins.'io.containerd.cri.v1.runtime']
disable_apparmor = true
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
use_internal_loopback = true
bin_dirs = ['$BIN/cni']
conf_dir = '$STATE/cni/conf'
[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = 'runc'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = '$BIN/runc'
Root = '$RUN/runc'
[plugins.'io.containerd.internal.v1.opt']
path = '$STATE/containerd/opt'
[plugins.'io.containerd.shim.v1.manager']
socket_dir = '$RUN/s'
[plugins.'io.containerd.metadata.v1.bolt']
no_sync = true
EOF
  start containerd env PATH="$BIN:$PATH" "$BIN/containerd" --config "$STATE/containerd/config.toml" --log-level warn
}

start_kubelet() {
  mkdir -p "$STATE/kubelet"
  echo 'search' >"$STATE/resolv.conf"
  cat >"$STATE/kubelet.yaml" <<EOF
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NODE_IP
healthzBindAddress: 127.0.0.1
authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: "$PKI/ca.crt" } }
authorization: { mode: Webhook }
tlsCertFile: $PKI/kubelet-serving.crt
tlsPrivateKeyFile: $PKI/kubelet-serving.key
containerRuntimeEndpoint: unix://$SOCK
clusterDomain: cluster.local
clusterDNS: ["$DNS_IP"]
resolvConf: $STATE/resolv.conf
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
cgroupRoot: /$CGROUP
cgroupsPerQOS: true
enforceNodeAllocatable: [pods]
evictionHard: { memory.available: "100Mi", nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%", imagefs.inodesFree: "0%" }
imageGCHighThresholdPercent: 100
maxPods: 200
serializeImagePulls: false
registryPullQPS: 0
eventRecordQPS: 0
podLogsDir: $LOG/pods
volumePluginDir: $STATE/kubelet-plugins
oomScoreAdj: 0
EOF
  start kubelet env PATH="$BIN:$PATH" "$BIN/kubelet" --config "$STATE/kubelet.yaml" --kubeconfig "$KCFG/kubelet.conf" \
    --root-dir "$STATE/kubelet" --cert-dir "$STATE/kubelet/pki" --hostname-override "$NODE_NAME" --node-ip "$NODE_IP" --register-node=true
}

start_proxy() {
  cat >"$STATE/kube-proxy.yaml" <<EOF
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: $NODE_NAME
clusterCIDR: $POD_CIDR
clientConnection: { kubeconfig: "$KCFG/kube-proxy.conf" }
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
nodePortAddresses: [127.0.0.0/8, $NODE_IP/32]
iptables: { minSyncPeriod: 0s }
oomScoreAdj: 0
conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
EOF
  start kube-proxy "$BIN/kube-proxy" --config "$STATE/kube-proxy.yaml"
}
