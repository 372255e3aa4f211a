# The pods' own group in every hierarchy: down ends exactly what is in it.
cgroup_roots() { # of version 1 and version 2
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts
}

make_cgroups() {
  local c f
  for c in $(cgroup_roots); do
    mkdir -p "$c/$CGROUP"
    for f in cpuset.cpus cpuset.mems; do
      [ -f "$c/cgroup.controllers" ] || [ ! -f "$c/$f" ] || cat "$c/$f" >"$c/$CGROUP/$f"
    done
    # All pods together would weigh as much as one busy process beside them.
    [ ! -f "$c/$CGROUP/cpu.shares" ] || echo 8192 >"$c/$CGROUP/cpu.shares"
    [ ! -f "$c/$CGROUP/cpu.weight" ] || echo 800 >"$c/$CGROUP/cpu.weight"
  done
}

kill_cgroups() {
  local c p i
  for i in 1 2 3 4 5 6 7 8 9 10; do
    p=$(for c in $(cgroup_roots); do [ ! -d "$c/$CGROUP" ] || find "$c/$CGROUP" -name cgroup.procs -exec cat {} + 2>/dev/null; done | sort -un)
    [ -n "$p" ] || return 0
    for c in $p; do kill -KILL "$c" 2>/dev/null || true; done
    sleep 0.2
  done
}

remove_cgroups() {
  local c d
  for c in $(cgroup_roots); do
    for d in "$c/$CGROUP" "$c/k8s.io"; do
      [ ! -d "$d" ] || find "$d" -depth -type d -exec rmdir {} \; 2>/dev/null || true
    done
  done
}
