import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isInstalled } from "../../processes.ts";
import { benchHost, grpcHost, hostName, type Ports, type Setup } from "../setup.ts";
import type { Subject } from "./subject.ts";

/** nginx in a usual tuned configuration: keep-alive on both sides, a buffered JSON access log, no temporary files. */
export const nginx: Subject = {
  name: "nginx",
  splitsProtocols: true,
  missing: () => (isInstalled("nginx") ? undefined : "nginx is not installed (Debian: nginx-light)"),
  configure(setup, ports) {
    // nginx has no token checks and no traces.
    if (setup.variant.features || setup.variant.tracing) return undefined;
    mkdirSync(setup.folder, { recursive: true });
    const file = join(setup.folder, "nginx.conf");
    writeFileSync(file, configurationOf(setup, ports));
    return { command: "nginx", args: ["-p", setup.folder, "-c", file] };
  },
};

const logFormat = [
  `log_format bench escape=json '{"timestamp":"$time_iso8601","host":"$host","method":"$request_method",'`,
  `'"path":"$uri","status":$status,"upstream_addr":"$upstream_addr","duration":$request_time,'`,
  `'"bytes_sent":$body_bytes_sent,"client_ip":"$remote_addr"}';`,
].join("\n  ");

function configurationOf(
  { variant, folder, tls, backendPort, grpcBackendPort }: Setup,
  ports: Ports,
): string {
  const log = variant.accessLog
    ? `access_log ${folder}/access.log bench buffer=64k flush=1s;`
    : "access_log off;";
  const listen = [
    `listen 127.0.0.1:${ports.http} backlog=4096 reuseport;`,
    `listen 127.0.0.1:${ports.h2c} http2 backlog=4096 reuseport;`,
    `listen 127.0.0.1:${ports.https} ssl http2 backlog=4096 reuseport;`,
  ];
  const server = (name: string, locations: string, isFirst: boolean): string =>
    `server {
    ${(isFirst ? listen : listen.map((line) => line.replace(" backlog=4096 reuseport", ""))).join("\n    ")}
    server_name ${name};
    ${locations}
  }`;
  const locationsOf = (host: number): string =>
    [
      ...Array.from(
        { length: variant.paths },
        (_, path) => `location /svc${path} { proxy_pass http://backend; }`,
      ),
      ...(hostName(host) === benchHost ? ["location /bytes { proxy_pass http://backend; }"] : []),
    ].join("\n    ");
  const servers = Array.from({ length: variant.hosts }, (_, host) =>
    server(hostName(host), locationsOf(host), host === 0),
  );
  return `
worker_processes ${variant.workers};
worker_rlimit_nofile 40000;
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events { worker_connections 20000; }
http {
  ${logFormat}
  ${log}
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_max_body_size 0;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server_names_hash_max_size 65536;
  server_names_hash_bucket_size 128;
  http2_max_concurrent_streams 256;
  ssl_certificate ${tls.certificate};
  ssl_certificate_key ${tls.key};
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:bench:10m;
  upstream backend { server 127.0.0.1:${backendPort}; keepalive 512; keepalive_requests 1000000000; }
  upstream grpc { server 127.0.0.1:${grpcBackendPort}; keepalive 512; keepalive_requests 1000000000; }
  map $http_upgrade $connection_field { default upgrade; '' ''; }
  proxy_http_version 1.1;
  proxy_request_buffering off;
  proxy_max_temp_file_size 0;
  proxy_set_header Host $host;
  proxy_set_header Upgrade $http_upgrade;
  proxy_set_header Connection $connection_field;
  proxy_set_header X-Forwarded-For $remote_addr;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Real-IP $remote_addr;
  ${servers.join("\n  ")}
  ${server(grpcHost, "location / { grpc_pass grpc://grpc; }", false)}
}
`;
}
