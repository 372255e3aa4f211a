# Long-running processes by recorded number and start time, so that only what this tool started is ever ended.

# Field 22 of /proc/PID/stat: with it a reused process number is recognised.
born() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

start() {
  local name=$1 pid
  shift
  setsid "$@" >>"$LOG/$name.log" 2>&1 </dev/null 9>&- &
  pid=$!
  echo "$pid $(born "$pid")" >"$RUN/$name.pid"
}

running() {
  local pid b
  [ -f "$RUN/$1.pid" ] || return 1
  read -r pid b <"$RUN/$1.pid"
  [ -n "$b" ] && [ "$(born "$pid")" = "$b" ] && ! ended "$pid"
}

# The first thread of a process that is killed may be a zombie while another one still holds its sockets.
ended() { # ended PID
  [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1)" = Z ] && [ "$(ls "/proc/$1/task" 2>/dev/null | wc -l)" -le 1 ]
}

# Without a signal that it could prepare for.
crash() {
  local name=$1 pid i
  running "$name" || return 0
  read -r pid _ <"$RUN/$name.pid"
  kill -KILL "$pid" 2>/dev/null || true
  # Its ports are free when it is gone, and not a moment before.
  for i in $(seq 1 50); do running "$name" || break; sleep 0.1; done
}

stop() {
  local name=$1 pid b i
  [ -f "$RUN/$name.pid" ] || return 0
  read -r pid b <"$RUN/$name.pid"
  if running "$name"; then
    kill -TERM "$pid" 2>/dev/null || true
    for i in $(seq 1 "${2:-50}"); do running "$name" || break; sleep 0.1; done
    crash "$name"
  fi
  rm -f "$RUN/$name.pid"
}

COMPONENTS="lbpool kube-proxy kubelet kube-scheduler kube-controller-manager kube-apiserver containerd etcd"
