/**
 * The configuration with which nginx serves Ingresses as ingress-nginx does: its template (rootfs/etc/nginx/template/nginx.tmpl
 * of v1.15.1) by hand, without what Lua does there. It shows that the corpus expects what nginx does.
 */
import { locationsOf, type Location, type Site } from "./sites.ts";

export type ServerFiles = {
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly folder: string;
  /** Addresses of endpoints by the name of their upstream; a try that fails is made again at the next one, as there. */
  readonly upstreams?: ReadonlyMap<string, readonly string[]>;
  /** The address of a Service of a namespace, or the name of an upstream. */
  readonly addressOf: (namespace: string, service: string) => string;
  /** The file with the certificate and key of a host; undefined: it has none. */
  readonly certificateOf: (host: string) => string | undefined;
  /** The htpasswd file of a Secret. */
  readonly usersOf: (namespace: string, secret: string) => string;
};

/** The whole configuration. */
export function nginxConfig(sites: readonly Site[], files: ServerFiles): string {
  const { folder } = files;
  return `
daemon off;
worker_processes 1;
${process.getuid?.() === 0 ? "user root;" : ""}
error_log ${folder}/error.log warn;
pid ${folder}/nginx.pid;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server_names_hash_bucket_size 256;
  underscores_in_headers off;
  proxy_http_version 1.1;
  proxy_buffering off;
  proxy_ssl_verify off;
  map $scheme $pass_port { https 443; default 80; }
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  map $http_x_request_id $req_id { default $http_x_request_id; "" $request_id; }
  map $request_uri $cut_uri { default $request_uri; "~^(?<cut>.*)/$" $cut; }
  limit_req_status 503;
${[...(files.upstreams ?? [])].map(([name, servers]) => upstream(name, servers)).join("")}
${sites.flatMap((site) => locationsOf(site).map((one) => limitZone(one))).join("")}
${sites.map((site) => server(site, files)).join("\n")}
  server {
    listen 127.0.0.1:${files.httpPort} default_server;
    listen unix:${folder}/default-backend;
    return 404;
  }
}
`;
}

const upstream = (name: string, servers: readonly string[]): string =>
  `  upstream ${name} { ${servers.map((address) => `server ${address} max_fails=0;`).join(" ")} }\n`;

const limitZone = ({ id, annotations }: Location): string =>
  annotations["limit-rps"] === undefined
    ? ""
    : `  limit_req_zone ${annotations["limit-whitelist"] === undefined ? "$binary_remote_addr" : '""'} zone=${id}:1m rate=${annotations["limit-rps"]}r/s;\n`;

function server(site: Site, files: ServerFiles): string {
  const certificate = files.certificateOf(site.host);
  const first = site.ingresses[0]?.annotations ?? {};
  const names = [serverName(site.host), ...site.aliases].join(" ");
  const www = site.host.startsWith("www.") ? site.host.slice(4) : `www.${site.host}`;
  const listen = [
    `listen 127.0.0.1:${files.httpPort};`,
    ...(certificate === undefined
      ? []
      : [
          `listen 127.0.0.1:${files.httpsPort} ssl http2;`,
          `ssl_certificate ${certificate};`,
          `ssl_certificate_key ${certificate};`,
        ]),
  ].join("\n    ");
  const appRoot = site.ingresses
    .map(({ annotations }) => annotations["app-root"])
    .find((one) => one !== undefined);
  return `
  server {
    server_name ${names};
    ${listen}
    ${first["server-snippet"] ?? ""}
    ${certificate === undefined ? "" : 'set $hsts ""; if ($scheme = https) { set $hsts "max-age=31536000; includeSubDomains"; }'}
    ${appRoot === undefined ? "" : `if ($uri = /) { return 302 $scheme://$http_host${appRoot}; }`}
${locationsOf(site)
  .map((one) => location(one, files, certificate !== undefined))
  .join("\n")}
  }
${
  first["from-to-www-redirect"] === "true"
    ? `  server { server_name ${www}; ${listen} return 308 $scheme://${site.host}$cut_uri; }`
    : ""
}`;
}

/** A wildcard is one label there. */
const serverName = (host: string): string =>
  host.startsWith("*.") ? `~^[A-Za-z0-9_-]+${host.slice(1).replaceAll(".", "\\.")}$` : host;

/** What the template sets as well, and would send twice. */
const repeated = /proxy_set_header (?:Upgrade|Connection) /;

function location(one: Location, files: ServerFiles, hasTls: boolean): string {
  const { annotations: a, namespace } = one;
  const lines: string[] = [];
  const add = (line: string): void => void lines.push(`      ${line}`);
  const isAcme = one.path.startsWith("/.well-known/acme-challenge");
  add(`client_max_body_size ${a["proxy-body-size"] ?? "1m"};`);
  if (a["enable-cors"] === "true") for (const line of corsLines(a)) add(line);
  const url = a["temporal-redirect"] ?? a["permanent-redirect"];
  if (url !== undefined) {
    const code = a["temporal-redirect"] === undefined ? (a["permanent-redirect-code"] ?? "301") : "302";
    add(`return ${code} ${url};`);
  }
  const redirects = a["force-ssl-redirect"] === "true" || (hasTls && a["ssl-redirect"] !== "false");
  if (redirects && !isAcme) add("if ($scheme = http) { return 308 https://$host$cut_uri; }");
  if (a["limit-rps"] !== undefined) {
    const burst = Number(a["limit-rps"]) * Number(a["limit-burst-multiplier"] ?? 5);
    add(`limit_req zone=${one.id} burst=${burst} nodelay;`);
  }
  for (const range of list(a["denylist-source-range"])) add(`deny ${range};`);
  const allowed = list(a["whitelist-source-range"]);
  for (const range of allowed) add(`allow ${range};`);
  if (allowed.length > 0) add("deny all;");
  if (a["satisfy"] !== undefined) add(`satisfy ${a["satisfy"]};`);
  if (a["auth-type"] === "basic" && !isAcme) {
    add(`auth_basic "${a["auth-realm"] ?? ""}";`);
    add(`auth_basic_user_file ${files.usersOf(namespace, a["auth-secret"] ?? "")};`);
    add('proxy_set_header Authorization "";');
  }
  const fields = a["auth-response-headers"];
  if (a["auth-url"] !== undefined) {
    add(`auth_request /_auth_${one.id};`);
    for (const [at, name] of list(fields).entries()) {
      add(
        `auth_request_set $auth_${one.id}_${at} $upstream_http_${name.toLowerCase().replaceAll("-", "_")};`,
      );
      add(`proxy_set_header ${name} $auth_${one.id}_${at};`);
    }
    if (a["auth-signin"] !== undefined) add(`error_page 401 = @signin_${one.id};`);
  }
  if (a["custom-http-errors"] !== undefined) {
    add("proxy_intercept_errors on;");
    add(`error_page ${a["custom-http-errors"].replaceAll(",", " ")} = @errors_${one.id};`);
  }
  const from = a["proxy-redirect-from"];
  add(from === undefined ? "proxy_redirect off;" : `proxy_redirect ${from} ${a["proxy-redirect-to"] ?? ""};`);
  if (a["proxy-cookie-path"] !== undefined) add(`proxy_cookie_path ${a["proxy-cookie-path"]};`);
  if (a["proxy-cookie-domain"] !== undefined) add(`proxy_cookie_domain ${a["proxy-cookie-domain"]};`);
  if (hasTls) add("add_header Strict-Transport-Security $hsts always;");
  if (one.rewrite !== undefined) {
    add(`rewrite "(?i)${one.path}" ${one.rewrite} break;`);
    if (a["x-forwarded-prefix"] !== undefined)
      add(`proxy_set_header X-Forwarded-Prefix ${a["x-forwarded-prefix"]};`);
  }
  for (const line of a["configuration-snippet"]?.split("\n") ?? []) if (!repeated.test(line)) add(line);
  for (const line of forwardingLines(a["upstream-vhost"])) add(line);
  const protocol = (a["backend-protocol"] ?? "HTTP").toUpperCase();
  const address =
    one.service === undefined
      ? `unix:${files.folder}/default-backend:`
      : files.addressOf(namespace, one.service);
  // The default backend is asked by the protocol of the annotation there, and answers 502 to another one than HTTP.
  const isPlain = one.service === undefined;
  const scheme = protocol.endsWith("S") && !isPlain ? "https" : "http";
  if (protocol.startsWith("GRPC") && !isPlain)
    add(`grpc_pass ${protocol === "GRPCS" ? "grpcs" : "grpc"}://${address};`);
  else add(`proxy_pass ${scheme}://${address};`);
  const services = `set $service_name "${one.service ?? ""}"; set $namespace "${namespace}"; set $ingress_name "${one.ingress}";`;
  return [
    ...one.matches.map((match) => `    location ${match} {\n      ${services}\n${lines.join("\n")}\n    }`),
    ...helperLocations(one, files),
  ].join("\n");
}

/** The locations that others call. */
function helperLocations(
  { id, annotations: a, namespace, ingress, service }: Location,
  files: ServerFiles,
): readonly string[] {
  const found: string[] = [];
  const url = a["auth-url"];
  if (url !== undefined) {
    const [, scheme = "http", host = "", path = ""] = /^(https?):\/\/([^/]+)(.*)$/s.exec(url) ?? [];
    const named = /^([^.]+)\.([^.]+)\.svc/.exec(host);
    const address = named
      ? `http://${files.addressOf(named[2] ?? "", named[1] ?? "")}`
      : `${scheme}://127.0.0.1:${scheme === "https" ? files.httpsPort : files.httpPort}`;
    found.push(`    location = /_auth_${id} {
      internal;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header X-Forwarded-Proto "";
      proxy_set_header Host ${host};
      proxy_ssl_server_name on;
      proxy_ssl_name $host;
      proxy_method ${a["auth-method"] ?? "GET"};
      proxy_set_header X-Original-URL $scheme://$http_host$request_uri;
      proxy_pass ${address}${path};
    }`);
  }
  const signIn = a["auth-signin"];
  if (signIn !== undefined) {
    // $escaped_request_uri is set by Lua there; the corpus has no other characters than these.
    found.push(`    location @signin_${id} {
      set $escaped_request_uri $request_uri;
      return 302 ${signIn};
    }`);
  }
  if (a["custom-http-errors"] !== undefined) {
    found.push(`    location @errors_${id} {
      proxy_set_header X-Code $upstream_status;
      proxy_set_header X-Format $http_accept;
      proxy_set_header X-Original-URI $request_uri;
      proxy_set_header X-Namespace ${namespace};
      proxy_set_header X-Ingress-Name ${ingress};
      proxy_set_header X-Service-Name "${service ?? ""}";
      proxy_set_header Host $http_host;
      rewrite ^ / break;
      proxy_pass http://${files.addressOf(namespace, a["default-backend"] ?? "")};
    }`);
  }
  return found;
}

const list = (text = ""): readonly string[] => text.split(",").flatMap((one) => one.trim() || []);

function forwardingLines(host = "$http_host"): readonly string[] {
  return [
    `proxy_set_header Host ${host};`,
    "proxy_set_header Upgrade $http_upgrade;",
    "proxy_set_header Connection $connection_upgrade;",
    "proxy_set_header X-Request-ID $req_id;",
    "proxy_set_header X-Real-IP $remote_addr;",
    "proxy_set_header X-Forwarded-For $remote_addr;",
    "proxy_set_header X-Forwarded-Host $http_host;",
    "proxy_set_header X-Forwarded-Proto $scheme;",
    "proxy_set_header X-Forwarded-Port $pass_port;",
    "proxy_set_header X-Forwarded-Scheme $scheme;",
    "proxy_set_header X-Scheme $scheme;",
    'proxy_set_header Proxy "";',
  ];
}

function corsLines(a: Location["annotations"]): readonly string[] {
  const origins = list(a["cors-allow-origin"] ?? "*").map((one) =>
    one === "*" ? ".*" : one.replaceAll(".", "\\.").replaceAll("*", "[A-Za-z0-9-]+"),
  );
  const isAny = origins.includes(".*");
  const fields = [
    `add_header Access-Control-Allow-Origin ${isAny ? "*" : "$cors_origin"} always;`,
    "add_header Access-Control-Allow-Credentials $cors_credentials always;",
    "add_header Access-Control-Allow-Methods $cors_methods always;",
    "add_header Access-Control-Allow-Headers $cors_headers always;",
    "add_header Access-Control-Max-Age $cors_age always;",
    "add_header Access-Control-Expose-Headers $cors_expose always;",
  ];
  const quoted = (text: string): string => `"${text}"`;
  const methods = a["cors-allow-methods"] ?? "GET, PUT, POST, DELETE, PATCH, OPTIONS";
  const headers =
    a["cors-allow-headers"] ??
    "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization";
  return [
    'set $cors ""; set $cors_origin ""; set $cors_credentials ""; set $cors_methods ""; set $cors_headers ""; set $cors_age ""; set $cors_expose "";',
    isAny
      ? "set $cors yes;"
      : `if ($http_origin ~* "(${origins.join("|")})$") { set $cors yes; set $cors_origin $http_origin; }`,
    `if ($cors = yes) { set $cors_credentials "${a["cors-allow-credentials"] === "false" ? "" : "true"}"; set $cors_methods ${quoted(methods)}; set $cors_headers ${quoted(headers)}; set $cors_age ${a["cors-max-age"] ?? "1728000"}; set $cors_expose ${quoted(a["cors-expose-headers"] ?? "")}; }`,
    'if ($request_method = OPTIONS) { set $cors "$cors-options"; }',
    `if ($cors = "yes-options") { ${fields.join(" ")} return 204; }`,
    ...fields,
  ];
}
