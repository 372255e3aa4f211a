import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostCount, hostName, pathCount } from "./manifests.ts";

const jsonLog = [
  `log_format json escape=json '{"timestamp":"$time_iso8601","host":"$host","method":"$request_method",'`,
  `'"path":"$uri","status":$status,"upstream_addr":"$upstream_addr","duration_ms":$request_time,'`,
  `'"bytes_sent":$body_bytes_sent,"client_ip":"$remote_addr"}';`,
].join("\n  ");

const common = (folder: string, name: string): string => `
worker_processes 1;
daemon off;
pid ${folder}/${name}.pid;
error_log ${folder}/${name}.error.log;
events { worker_connections 4096; }
`;

/** nginx as the reference proxy: the same table, a JSON access log, keep-alive to the backend. */
export function writeProxyConfig(folder: string, port: number, backendPort: number): string {
  const locations = Array.from(
    { length: pathCount },
    (_, path) => `location /svc${path} { proxy_pass http://backend; }`,
  ).join("\n    ");
  const servers = Array.from(
    { length: hostCount },
    (_, host) =>
      `server {\n    listen 127.0.0.1:${port};\n    server_name ${hostName(host)};\n    ${locations}\n  }`,
  ).join("\n  ");
  return write(
    folder,
    "proxy",
    `${common(folder, "proxy")}
http {
  ${jsonLog}
  access_log ${folder}/proxy.access.log json buffer=64k flush=1s;
  keepalive_requests 10000;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy-temp;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream backend { server 127.0.0.1:${backendPort}; keepalive 128; keepalive_requests 1000000; }
  proxy_http_version 1.1;
  proxy_set_header Host $host;
  proxy_set_header Connection "";
  proxy_set_header X-Forwarded-For $remote_addr;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Real-IP $remote_addr;
  ${servers}
}
`,
  );
}

/** Up to this many bytes nginx answers from its configuration. */
const maxInlineBytes = 1024;

/** A second nginx, the backend of both proxies: answers `bytes` bytes, 1 KiB or less without touching a file. */
export function writeBackendConfig(folder: string, port: number, bytes: number): string {
  const isInline = bytes <= maxInlineBytes;
  if (!isInline) writeFileSync(join(folder, "response"), "x".repeat(bytes));
  const answer = isInline ? `return 200 "${"x".repeat(bytes)}"` : `root ${folder}; try_files /response =404`;
  return write(
    folder,
    "backend",
    `${common(folder, "backend")}
http {
  access_log off;
  sendfile on;
  keepalive_requests 1000000;
  client_body_temp_path ${folder}/b-body; proxy_temp_path ${folder}/b-proxy;
  fastcgi_temp_path ${folder}/b-f; uwsgi_temp_path ${folder}/b-u; scgi_temp_path ${folder}/b-s;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / { default_type text/plain; ${answer}; }
  }
}
`,
  );
}

function write(folder: string, name: string, text: string): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.conf`);
  writeFileSync(file, text);
  return file;
}
