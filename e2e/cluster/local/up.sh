# Brings the cluster up, in the order that is fastest.

import_images() {
  local f
  for f in "$IMAGES"/*.tar; do load_image "$f"; done
}

load_image() { ctr images import --local --snapshotter overlayfs "$1" >/dev/null; }

node_ready() { [ "$(k get node "$NODE_NAME" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]; }

# A DNS question over UDP to the cluster address, without any DNS client.
dns_answers() {
  "$NODE" -e '
    const { Resolver } = require("node:dns").promises;
    const r = new Resolver({ timeout: 1000, tries: 1 });
    r.setServers([process.argv[1]]);
    r.resolve4("kubernetes.default.svc.cluster.local").then((a) => process.exit(a[0] === process.argv[2] ? 0 : 1), () => process.exit(1));
  ' "$DNS_IP" "$SERVICE_FIRST"
}

# A cluster that is up in part may be somebody's experiment: only `down` ends it.
refuse_what_runs() {
  local c up=()
  for c in $COMPONENTS; do ! running "$c" || up+=("$c"); done
  [ "${#up[@]}" != "$(wc -w <<<"$COMPONENTS")" ] || die "already up"
  [ ${#up[@]} = 0 ] || die "a part of a cluster is up (${up[*]}); run 'down' first if nobody needs it"
  [ -z "$(ss -Hltn "sport = :$API_PORT")" ] || die "port $API_PORT is taken; CLUSTER_API_PORT chooses another one"
}

cmd_up() {
  [ "$(id -u)" = 0 ] || die "up needs root"
  [ -x "$BIN/kube-apiserver" ] && [ -f "$IMAGES/node24.tar" ] || die "run 'build' first"
  refuse_what_runs
  cmd_down quiet
  local t0
  t0=$(now)
  mkdir -p "$RUN" "$LOG"
  make_pki
  make_cgroups
  network_up
  start_etcd
  start_containerd
  start_apiserver
  wait_for 120 containerd ctr version
  import_images &
  local importer=$!
  wait_for 240 "API server" k get --raw /readyz
  say "API server ready after $(since "$t0")"
  # Not before: on a busy machine the controller manager ends, because it waits for its rights for 20 seconds only.
  start_controllers
  start_proxy
  sed -e "s|@DNS_IP@|$DNS_IP|g" "$HERE/local/system.yaml" >"$STATE/system.yaml"
  wait_for 120 "system objects" k apply -f "$STATE/system.yaml"
  start lbpool "$BIN/lbpool" --kubeconfig "$KCFG/lbpool.conf" --pool "$LB_CIDR"
  wait "$importer" || die "images could not be imported"
  say "images imported after $(since "$t0")"
  start_kubelet
  wait_for 240 "node Ready" node_ready
  say "node ready after $(since "$t0")"
  wait_for 180 "cluster DNS" dns_answers
  say "cluster up after $(since "$t0")"
}
