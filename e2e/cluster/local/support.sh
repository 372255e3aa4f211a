# Small helpers of every other part.

say() { printf '%s\n' "$*" >&2; }
die() { say "cluster: $*"; exit 1; }
now() { date +%s%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f s", (b - a) / 1e9 }'; }
k() { "$BIN/kubectl" --kubeconfig "$KCFG/admin.conf" "$@"; }
ctr() { CONTAINERD_SUPPRESS_DEPRECATION_WARNINGS=true "$BIN/ctr" --address "$SOCK" -n k8s.io "$@"; }

# wait_for SECONDS WHAT COMMAND...: until the command succeeds. The message at the limit names the components that have ended.
wait_for() {
  local limit=$1 what=$2 t
  shift 2
  t=$(($(date +%s) + limit))
  until "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt "$t" ] || die "waited $limit s without success: $what$(ended_components) (logs: $LOG)"
    sleep 0.2
  done
}

ended_components() {
  local name ended=()
  for name in $COMPONENTS; do [ ! -f "$RUN/$name.pid" ] || running "$name" || ended+=("$name"); done
  [ ${#ended[@]} = 0 ] || printf '; ended: %s' "${ended[*]}"
}

# One run at a time changes the cluster or its cache; a second one says so and ends. Descriptor 9 holds the lock, and
# what is started to stay must not inherit it (see start).
take_lock() {
  mkdir -p "$CACHE"
  exec 9>>"$CACHE/lock"
  flock -n 9 || die "another run is at work: $(cat "$CACHE/lock") (wait for it, or end it)"
  printf 'process %s, "%s", since %s\n' "$$" "$1" "$(date '+%H:%M:%S')" >"$CACHE/lock"
}
