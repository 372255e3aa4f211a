# Faults of the control plane itself, for the fault tests.

# A clean stop would take half a minute; a crash cuts every watch and request at once. A start has an empty watch cache.
# `cut` resets all connections of pods to it once; `block` lets none through until `heal`.
cmd_api_server() {
  local blocked="INPUT -p tcp -s $POD_CIDR -d $NODE_IP --dport $API_PORT -j E2EK8S-BLOCK"
  case ${1:-} in
  cut) ss -K -Htn "src $NODE_IP and sport = :$API_PORT and dst $POD_CIDR" >/dev/null ;;
  # shellcheck disable=SC2086 # several words
  block) $IPT -C $blocked 2>/dev/null || $IPT -I $blocked ;;
  # shellcheck disable=SC2086
  heal) ! $IPT -C $blocked 2>/dev/null || $IPT -D $blocked ;;
  stop) crash kube-apiserver ;;
  start)
    ! running kube-apiserver || die "the API server is running"
    start_apiserver
    wait_for 90 "API server" k get --raw /readyz
    ;;
  *) die "api-server stop | start | cut | block | heal" ;;
  esac
}

# Forgets every revision but the present one, so that a watch from an older one is told that it is too old (410).
cmd_compact_etcd() {
  local revision
  revision=$(etcd_call range '{"key":"AA=="}' | sed -n 's/.*"revision":"\([0-9]*\)".*/\1/p')
  [ -n "$revision" ] || die "etcd does not say its revision"
  etcd_call compaction "{\"revision\":\"$revision\",\"physical\":true}" >/dev/null
  say "etcd is compacted at revision $revision"
}

etcd_call() { # etcd_call METHOD BODY
  curl --noproxy '*' -sSf -m 30 --cacert "$PKI/etcd-ca.crt" --cert "$PKI/etcd-client.crt" --key "$PKI/etcd-client.key" \
    -d "$2" "https://127.0.0.1:$ETCD_PORT/v3/kv/$1"
}
