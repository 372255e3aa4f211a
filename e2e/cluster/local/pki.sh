# Certificate authorities, certificates and kubeconfigs of the components.

ca() { # ca NAME CN
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=$2" \
    -addext keyUsage=critical,digitalSignature,keyCertSign,cRLSign \
    -keyout "$PKI/$1.key" -out "$PKI/$1.crt" 2>/dev/null
}

cert() { # cert NAME CA SUBJECT USAGE [SAN]
  local ext="keyUsage=critical,digitalSignature
extendedKeyUsage=$4
basicConstraints=critical,CA:FALSE"
  [ -z "${5:-}" ] || ext="$ext
subjectAltName=$5"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$3" -keyout "$PKI/$1.key" 2>/dev/null |
    openssl x509 -req -CA "$PKI/$2.crt" -CAkey "$PKI/$2.key" -set_serial "0x$(openssl rand -hex 15)" -days 3650 \
      -extfile <(printf '%s\n' "$ext") -out "$PKI/$1.crt" 2>/dev/null
}

kubeconfig() { # kubeconfig NAME CERT
  cat >"$KCFG/$1.conf" <<EOF
apiVersion: v1
kind: Config
clusters:
- name: e2e
  cluster:
    server: https://$NODE_IP:$API_PORT
    certificate-authority-data: $(base64 -w0 "$PKI/ca.crt")
users:
- name: $1
  user:
    client-certificate-data: $(base64 -w0 "$PKI/$2.crt")
    client-key-data: $(base64 -w0 "$PKI/$2.key")
contexts:
- name: e2e
  context: { cluster: e2e, user: $1 }
current-context: e2e
EOF
}

make_pki() {
  mkdir -p "$PKI" "$KCFG"
  chmod 700 "$PKI" "$KCFG"
  ca ca kubernetes; ca etcd-ca etcd-ca; ca front-proxy-ca front-proxy-ca
  cert etcd etcd-ca /CN=etcd serverAuth,clientAuth "DNS:localhost,IP:127.0.0.1" &
  cert etcd-client etcd-ca /CN=kube-apiserver-etcd-client clientAuth &
  cert apiserver ca /CN=kube-apiserver serverAuth \
    "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,DNS:localhost,IP:127.0.0.1,IP:$NODE_IP,IP:$SERVICE_FIRST" &
  cert apiserver-kubelet-client ca /CN=kube-apiserver-kubelet-client clientAuth &
  cert front-proxy-client front-proxy-ca /CN=front-proxy-client clientAuth &
  cert kubelet-serving ca "/O=system:nodes/CN=system:node:$NODE_NAME" serverAuth "DNS:$NODE_NAME,IP:$NODE_IP" &
  cert kubelet ca "/O=system:nodes/CN=system:node:$NODE_NAME" clientAuth &
  cert admin ca /O=system:masters/CN=kubernetes-admin clientAuth &
  cert controller-manager ca /CN=system:kube-controller-manager clientAuth &
  cert scheduler ca /CN=system:kube-scheduler clientAuth &
  cert kube-proxy ca /CN=system:kube-proxy clientAuth &
  cert lbpool ca /CN=cluster:lbpool clientAuth &
  openssl genrsa -out "$PKI/sa.key" 2048 2>/dev/null
  openssl rsa -in "$PKI/sa.key" -pubout -out "$PKI/sa.pub" 2>/dev/null
  wait
  local c
  for c in admin kubelet controller-manager scheduler kube-proxy lbpool; do kubeconfig "$c" "$c"; done
}
