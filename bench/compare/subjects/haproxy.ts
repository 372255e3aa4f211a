import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isInstalled } from "../../processes.ts";
import { benchHost, grpcHost, hostName, type Ports, type Setup } from "../setup.ts";
import type { Subject } from "./subject.ts";

/** HAProxy with one map for all routes, in which it finds prefixes without iterating over them. */
export const haproxy: Subject = {
  name: "haproxy",
  splitsProtocols: true,
  missing: () => (isInstalled("haproxy") ? undefined : "haproxy is not installed (Debian: haproxy)"),
  configure(setup, ports) {
    // HAProxy has no token checks with a key set, and no traces.
    if (setup.variant.features || setup.variant.tracing) return undefined;
    mkdirSync(setup.folder, { recursive: true });
    const { tls, folder } = setup;
    writeFileSync(
      join(folder, "tls.pem"),
      readFileSync(tls.certificate, "utf8") + readFileSync(tls.key, "utf8"),
    );
    writeFileSync(join(folder, "routes.map"), routesOf(setup).join("\n"));
    const file = join(folder, "haproxy.cfg");
    writeFileSync(file, configurationOf(setup, ports));
    return { command: "haproxy", args: ["-db", "-f", file] };
  },
};

const routesOf = ({ variant }: Setup): readonly string[] => [
  ...Array.from({ length: variant.hosts }, (_, host) =>
    Array.from({ length: variant.paths }, (__, path) => `${hostName(host)}/svc${path} backend`),
  ).flat(),
  `${benchHost}/bytes backend`,
  `${grpcHost}/ grpc`,
];

const logFormat =
  '\'{"host":"%[var(txn.host)]","method":"%HM","path":"%HP","status":%ST,"upstream":"%si:%sp","ms":%Ta,"bytes":%B,"ip":"%ci"}\'';

function configurationOf({ variant, folder, backendPort, grpcBackendPort }: Setup, ports: Ports): string {
  return `
global
  nbthread ${variant.workers}
  no strict-limits
  maxconn 15000
  ${variant.accessLog ? "log stdout format raw local0 info" : ""}
defaults
  mode http
  ${variant.accessLog ? `log global\n  log-format ${logFormat}` : ""}
  timeout client 600s
  timeout server 600s
  timeout tunnel 600s
  timeout connect 5s
  timeout http-keep-alive 600s
  http-reuse always
  option forwardfor
frontend bench
  bind 127.0.0.1:${ports.http}
  bind 127.0.0.1:${ports.h2c} proto h2
  bind 127.0.0.1:${ports.https} ssl crt ${folder}/tls.pem alpn h2,http/1.1
  http-request set-var(txn.host) req.hdr(host)
  http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]
  http-request set-header X-Real-IP %[src]
  use_backend %[base,map_beg(${folder}/routes.map,none)]
backend backend
  server one 127.0.0.1:${backendPort} pool-max-conn 512
backend grpc
  server one 127.0.0.1:${grpcBackendPort} proto h2
backend none
  http-request return status 404
`;
}
