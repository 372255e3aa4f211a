# Ends all that `up` started and takes away all that it left.

kill_tasks() {
  local id
  ctr tasks ls -q 2>/dev/null | xargs -r -n1 "$BIN/ctr" --address "$SOCK" -n k8s.io tasks kill -s KILL >/dev/null 2>&1 || true
  for _ in $(seq 1 50); do
    ctr tasks ls 2>/dev/null | grep -q RUNNING || break
    sleep 0.1
  done
  for id in $(ctr tasks ls -q 2>/dev/null); do ctr tasks rm -f "$id" >/dev/null 2>&1 || true; done
}

# Shims outlive containerd: those on our socket, by process number.
kill_shims() {
  local p
  for p in /proc/[0-9]*; do
    if tr '\0' ' ' 2>/dev/null <"$p/cmdline" | grep -qF -- "-address $SOCK "; then
      [ "$(readlink "$p/exe")" != "$BIN/containerd-shim-runc-v2" ] || kill -KILL "${p#/proc/}" 2>/dev/null || true
    fi
  done
}

unmount_all() {
  local m
  for _ in 1 2 3; do
    awk -v s="$STATE/" -v r="$RUN/" 'index($5, s) == 1 || index($5, r) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r m; do umount "$m" 2>/dev/null || umount -l "$m" 2>/dev/null || true; done
  done
}

cmd_down() {
  [ "$(id -u)" = 0 ] || die "down needs root"
  local t0 c
  t0=$(now)
  if [ -d "$STATE" ]; then
    for c in lbpool kube-scheduler kube-controller-manager kubelet kube-proxy; do stop "$c"; done
    ! running containerd || kill_tasks
    stop containerd
    kill_shims
    kill_cgroups
    stop kube-apiserver 20
    stop etcd
    unmount_all
    network_down
    remove_cgroups
    ! grep -qF -e " $STATE/" -e " $RUN/" /proc/self/mountinfo || die "mounts are left under $STATE"
    find /var/log/containers -maxdepth 1 -type l -lname "$LOG/*" -delete 2>/dev/null || true
    if [ -f "$STATE/dirs.absent" ]; then
      while read -r c; do
        case " $FIXED_DIRS " in *" $c "*) rm -rf --one-file-system "$c" ;; esac
      done <"$STATE/dirs.absent"
    fi
    rm -rf --one-file-system "$STATE" "$RUN"
  fi
  [ "${1:-}" = quiet ] || say "cluster down after $(since "$t0")"
}
