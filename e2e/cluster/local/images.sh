# Makes the cluster's own images out of the programs; nothing is pulled.

MKIMAGE=$(cd "$HERE/../.." && pwd)/scripts/image/mkimage.ts
mkimage() { "$NODE" "$MKIMAGE" "$@" >&2; }

# image NAME KEYFILES... -- MKIMAGE_ARGS...: skipped while the inputs are the same.
image() {
  local name=$1 key files=()
  shift
  while [ "$1" != -- ]; do files+=("$1"); shift; done
  shift
  key=$({ cat "${files[@]}" "$MKIMAGE"; echo "$*"; } | sha256sum | cut -c1-16)
  if [ -f "$IMAGES/$name.tar" ] && [ "$(cat "$IMAGES/$name.key" 2>/dev/null)" = "$key" ]; then return; fi
  mkdir -p "$IMAGES/layout"
  mkimage --out "$IMAGES/layout/$name" --tar "$IMAGES/$name.tar" "$@"
  echo "$key" >"$IMAGES/$name.key"
}

# The little that a static binary wants around it.
skeleton() {
  rm -rf "$1"
  mkdir -p "$1/etc/ssl/certs" "$1/tmp" "$1/root"
  chmod 1777 "$1/tmp"
  printf 'root:x:0:0:root:/root:/sbin/nologin\nnode:x:1000:1000:node:/home/node:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n' >"$1/etc/passwd"
  printf 'root:x:0:\nnode:x:1000:\nnonroot:x:65532:\nnogroup:x:65534:\n' >"$1/etc/group"
  printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$1/etc/nsswitch.conf"
  [ ! -f /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
}

build_images() {
  local r=$IMAGES/root
  mkdir -p "$r"
  skeleton "$r/base"

  rm -rf "$r/pause"; mkdir -p "$r/pause"; cp "$BIN/pause" "$r/pause/pause"
  image pause "$BIN/pause" -- --tag "$PAUSE_IMAGE" --tree "$r/pause" --entrypoint '["/pause"]' --user 65535:65535

  rm -rf "$r/coredns"; mkdir -p "$r/coredns"; cp "$BIN/coredns" "$r/coredns/coredns"
  image coredns "$BIN/coredns" "$r/base/etc/passwd" -- --tag cluster.local/coredns:dev --tag registry.k8s.io/coredns/coredns:v1.12.2 \
    --tree "$r/base" --tree "$r/coredns" --entrypoint '["/coredns"]' --port 53/udp

  build_node_image "$r/node"
}

# The Node.js that npm installed for this project, with the shared libraries it is linked to; also under the name that
# config/examples/backends uses, so that `kubectl apply -k` of an example needs no registry.
build_node_image() {
  local r=$1 binary version lib
  binary=$("$NODE" -p process.execPath)
  version=$("$NODE" -p process.versions.node)
  [ "${version%%.*}" = 24 ] || die "Node.js $version is not 24: run npm ci first"
  skeleton "$r"
  mkdir -p "$r/usr/local/bin" "$r/usr/bin" "$r/app"
  cp "$binary" "$r/usr/local/bin/node"
  chmod 755 "$r/usr/local/bin/node"
  ldd "$binary" | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' | while read -r lib; do
    mkdir -p "$r$(dirname "$lib")"
    cp -L "$lib" "$r$lib"
  done
  image node24 "$r/usr/local/bin/node" "$r/etc/passwd" -- --tag "$NODE_IMAGE" --tag "$EXAMPLES_IMAGE" --tree "$r" \
    --entrypoint '["node"]' --workdir /app --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}
