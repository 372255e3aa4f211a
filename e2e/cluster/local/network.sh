# The bridge, routes and rules; everything is put back as it was by network_down.

# Folders whose place is fixed in the programs: taken away again by down where
# they were not there before.
FIXED_DIRS="/var/lib/kubelet /var/lib/cni /var/log/containers /run/containerd"

SYSCTLS="net.ipv4.ip_forward net.ipv4.conf.all.route_localnet net.bridge.bridge-nf-call-iptables net.netfilter.nf_conntrack_max
vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes"

network_up() {
  local s
  modprobe br_netfilter 2>/dev/null || true
  for s in $SYSCTLS; do
    [ ! -r "/proc/sys/${s//.//}" ] || echo "$s=$(cat "/proc/sys/${s//.//}")"
  done >"$STATE/sysctl.before"
  for s in $FIXED_DIRS; do [ -e "$s" ] || echo "$s"; done >"$STATE/dirs.absent"
  nft list tables >"$STATE/nft.before" 2>/dev/null || true
  ip link add "$BRIDGE" type bridge
  ip link set "$BRIDGE" up
  ip addr add "$NODE_IP/32" dev "$BRIDGE"
  ip addr add "$POD_GATEWAY/${POD_CIDR#*/}" dev "$BRIDGE"
  # Service and load-balancer addresses never leave the machine: what kube-proxy
  # does not translate ends on the bridge, where nobody answers.
  ip route add "$SERVICE_CIDR" dev "$BRIDGE" src "$NODE_IP"
  ip route add "$LB_CIDR" dev "$BRIDGE" src "$NODE_IP"
  echo 1 >/proc/sys/net/ipv4/ip_forward
  echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables
  # Pods reach pods, services and the node, nothing beyond.
  $IPT -N E2EK8S-BLOCK
  $IPT -A E2EK8S-BLOCK -p tcp -j REJECT --reject-with tcp-reset
  $IPT -N E2EK8S-FORWARD
  $IPT -A E2EK8S-FORWARD -i "$BRIDGE" -o "$BRIDGE" -j ACCEPT
  $IPT -A E2EK8S-FORWARD -i "$BRIDGE" -j REJECT
  $IPT -I FORWARD -j E2EK8S-FORWARD
}

# Deletes the chains whose name matches, and the rules that jump to them.
drop_chains() { # drop_chains IPTABLES_COMMAND REGEX
  local t save
  for t in filter nat mangle raw; do
    save=$($1-save -t "$t" 2>/dev/null) || continue
    grep -qE "^:($2)" <<<"$save" || continue
    {
      echo "*$t"
      grep -E "^:($2)" <<<"$save" | sed -E 's/^:([^ ]+) .*/-F \1/'
      grep -E "^-A [^ ]+ .*-[jg] ($2)" <<<"$save" | grep -vE "^-A ($2)" | sed 's/^-A/-D/' || true
      grep -E "^:($2)" <<<"$save" | sed -E 's/^:([^ ]+) .*/-X \1/'
      echo COMMIT
    } >"$STATE/iptables.drop"
    # -D of a jump must come before -X; -F first so that chains hold no references.
    $1-restore -w 10 --noflush <"$STATE/iptables.drop" || say "could not drop the chains of table $t"
  done
}

network_down() {
  local s c
  for c in iptables ip6tables; do
    drop_chains "$c" 'KUBE-[A-Z0-9-]+|CNI-[A-Za-z0-9-]+|E2EK8S-[A-Z]+'
  done
  ! ip link show "$BRIDGE" >/dev/null 2>&1 || ip link del "$BRIDGE"
  if [ -f "$STATE/sysctl.before" ]; then
    while IFS== read -r s v; do echo "$v" >"/proc/sys/${s//.//}" 2>/dev/null || true; done <"$STATE/sysctl.before"
  fi
  # Tables that iptables-nft made on the way and that hold no rule.
  if [ -s "$STATE/nft.before" ] || command -v nft >/dev/null; then
    nft list tables 2>/dev/null | while read -r _ c s; do
      grep -qxF "table $c $s" "$STATE/nft.before" 2>/dev/null && continue
      case $s in filter | nat | mangle | raw) ;; *) continue ;; esac
      # Built-in chains alone, policy accept: nothing of anybody's.
      [ -n "$(nft list table "$c" "$s" 2>/dev/null | grep -vE '^table|^\}|^\s*chain [A-Z]+ \{$|^\s*type .* policy accept;$|^\s*\}$|^\s*$')" ] || nft delete table "$c" "$s" 2>/dev/null || true
    done
  fi
  if command -v conntrack >/dev/null; then
    for c in "$POD_CIDR" "$SERVICE_CIDR" "$LB_CIDR" "$NODE_IP"; do
      conntrack -D -s "$c" >/dev/null 2>&1 || true
      conntrack -D -d "$c" >/dev/null 2>&1 || true
    done
  fi
}
