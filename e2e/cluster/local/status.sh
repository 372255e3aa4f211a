# What runs, how much memory it takes, nodes and pods. Fails unless everything runs.

cmd_status() {
  local c pid all=0
  for c in $COMPONENTS; do
    if running "$c"; then
      read -r pid _ <"$RUN/$c.pid"
      printf '%-26s pid %-8s %5d MiB\n' "$c" "$pid" "$(($(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") / 1024))"
    else
      printf '%-26s not running\n' "$c"
      all=1
    fi
  done
  [ "$all" = 0 ] && k get nodes,pods -A -o wide
  return "$all"
}
