/**
 * The configuration with which nginx serves Ingresses as ingress-nginx does: its template (rootfs/etc/nginx/template/nginx.tmpl
 * of v1.15.1) by hand, without what Lua does there. It shows that the corpus expects what nginx does.
 */
import { clientFieldLines, clientServerLines } from "./client-certificates.ts";
import { hstsOf, httpLines, noSettings, settingLines, type Settings } from "./config-map.ts";
import { corsLines } from "./cors.ts";
import type { ServerFiles } from "./server-files.ts";
import { helperLocations } from "./helper-locations.ts";
import { attemptLines, limitLines, limitZones, mirrorLines } from "./limits.ts";
import { list } from "./list.ts";
import { locationsOf, type Location, type Site } from "./sites.ts";

/** The whole configuration. */
export function nginxConfig(
  sites: readonly Site[],
  files: ServerFiles,
  settings: Settings = noSettings,
): string {
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
  proxy_http_version 1.1;
  proxy_buffering off;
  proxy_ssl_verify off;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  map $request_uri $cut_uri { default $request_uri; "~^(?<cut>.*)/$" $cut; }
  proxy_cache_path ${folder}/auth-cache keys_zone=auth_cache:1m use_temp_path=off;
  map $request_uri $escaped_request_uri { default $request_uri; ${(files.escaped ?? []).map((uri) => `"${uri}" "${encodeURIComponent(uri)}";`).join(" ")} }
${httpLines(settings)
  .map((line) => `  ${line}`)
  .join("\n")}
${[...(files.upstreams ?? [])].map(([name, servers]) => upstream(name, servers, folder)).join("")}
${limitZones(sites)}
${sites.map((site) => server(site, files, settings)).join("\n")}
  server {
    listen 127.0.0.1:${files.httpPort} default_server;
    listen unix:${folder}/default-backend;
    return 404;
  }
  server {
    listen unix:${folder}/no-endpoints;
    return 503;
  }
}
`;
}

/** One without endpoints answers 503, as Lua does there. */
const upstream = (name: string, servers: readonly string[], folder: string): string =>
  `  upstream ${name} { ${(servers.length === 0 ? [`unix:${folder}/no-endpoints`] : servers).map((address) => `server ${address} max_fails=0;`).join(" ")} }\n`;

function server(site: Site, files: ServerFiles, settings: Settings): string {
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
    ${(certificate === undefined ? [] : clientServerLines(site, files)).join("\n    ")}
    ${first["server-snippet"] ?? ""}
    ${certificate === undefined ? "" : `set $hsts ""; if ($scheme = https) { set $hsts "${hstsOf(settings)}"; }`}
    ${appRoot === undefined ? "" : `if ($uri = /) { return 302 $scheme://$http_host${appRoot}; }`}
${locationsOf(site)
  .map((one) => location(one, { site, files, settings, hasTls: certificate !== undefined }))
  .join("\n")}
  }
${
  first["from-to-www-redirect"] === "true"
    ? `  server { server_name ${www}; ${listen} return ${settings.keys["http-redirect-code"] ?? "308"} $scheme://${site.host}$cut_uri; }`
    : ""
}`;
}

/** A wildcard is one label there. */
const serverName = (host: string): string =>
  host.startsWith("*.") ? `~^[A-Za-z0-9_-]+${host.slice(1).replaceAll(".", "\\.")}$` : host;

/** Lines of snippets for fields that the template also sets, which would therefore be sent twice. */
const repeated = /proxy_set_header (?:Upgrade|Connection) /;

type Place = {
  readonly site: Site;
  readonly files: ServerFiles;
  readonly settings: Settings;
  readonly hasTls: boolean;
};

function location(one: Location, { site, files, settings, hasTls }: Place): string {
  const { annotations: a, namespace } = one;
  const lines: string[] = [];
  const add = (line: string): void => void lines.push(`      ${line}`);
  const isAcme = one.path.startsWith("/.well-known/acme-challenge");
  add(`client_max_body_size ${a["proxy-body-size"] ?? "1m"};`);
  if (a["enable-cors"] === "true") for (const line of corsLines(a)) add(line);
  const url = a["temporal-redirect"] ?? a["permanent-redirect"];
  if (url !== undefined) {
    const [kind, usual] = a["temporal-redirect"] === undefined ? ["permanent", "301"] : ["temporal", "302"];
    const code = a[`${kind}-redirect-code`] ?? usual;
    add(`return ${code} ${url};`);
  }
  const redirects = a["force-ssl-redirect"] === "true" || (hasTls && a["ssl-redirect"] !== "false");
  const uri = a["preserve-trailing-slash"] === "true" ? "$request_uri" : "$cut_uri";
  if (redirects && !isAcme)
    add(
      `if ($pass_scheme = http) { return ${settings.keys["http-redirect-code"] ?? "308"} https://$host${uri}; }`,
    );
  for (const line of limitLines(one)) add(line);
  for (const range of list(a["denylist-source-range"])) add(`deny ${range};`);
  const allowed = list(a["allowlist-source-range"] ?? a["whitelist-source-range"]);
  for (const range of allowed) add(`allow ${range};`);
  if (allowed.length > 0) add("deny all;");
  if (a["satisfy"] !== undefined) add(`satisfy ${a["satisfy"]};`);
  if (a["auth-type"] === "basic" && !isAcme) {
    add(`auth_basic "${a["auth-realm"] ?? ""}";`);
    add(`auth_basic_user_file ${files.usersOf(namespace, (a["auth-secret"] ?? "").replace(/^.*\//, ""))};`);
    add('proxy_set_header Authorization "";');
  }
  const fields = a["auth-response-headers"];
  if (a["auth-url"] !== undefined && !isAcme) {
    const always = a["auth-always-set-cookie"] === "true" ? " always" : "";
    add(
      `auth_request_set $auth_cookie $upstream_http_set_cookie; add_header Set-Cookie $auth_cookie${always};`,
    );
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
    add(`proxy_intercept_errors ${a["disable-proxy-intercept-errors"] === "true" ? "off" : "on"};`);
    for (const code of list(a["custom-http-errors"])) add(`error_page ${code} = @errors_${one.id}_${code};`);
  }
  for (const line of [...attemptLines(a), ...mirrorLines(one)]) add(line);
  // A module that Debian does not have sets them there.
  for (const [name, value] of Object.entries(files.fieldsOf?.(a["custom-headers"] ?? "") ?? {}))
    add(`proxy_hide_header ${name}; add_header ${name} "${value}" always;`);
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
  for (const line of [...forwardingLines(settings, a["upstream-vhost"]), ...settingLines(settings)])
    add(line);
  for (const line of hasTls ? clientFieldLines(site) : []) add(line);
  const protocol = (a["backend-protocol"] ?? "HTTP").toUpperCase();
  const address =
    one.service === undefined
      ? `unix:${files.folder}/default-backend:`
      : files.addressOf(namespace, one.service);
  // The default backend is asked by the protocol of the annotation there, and answers 502 to another one than HTTP.
  const isPlain = one.service === undefined;
  const auto = protocol === "AUTO_HTTP" ? "$scheme" : "http";
  const scheme = protocol.endsWith("S") && !isPlain ? "https" : auto;
  if (files.upstreams?.get(address)?.length === 0) add("return 503;");
  else if (protocol.startsWith("GRPC") && !isPlain)
    add(`grpc_pass ${protocol === "GRPCS" ? "grpcs" : "grpc"}://${address};`);
  else add(`proxy_pass ${scheme}://${address};`);
  const services = `set $service_name "${one.service ?? ""}"; set $namespace "${namespace}"; set $ingress_name "${one.ingress}";`;
  return [
    ...one.matches.map((match) => `    location ${match} {\n      ${services}\n${lines.join("\n")}\n    }`),
    ...helperLocations(one, files),
  ].join("\n");
}

function forwardingLines({ keys }: Settings, host = "$best_host"): readonly string[] {
  const isFull = keys["use-forwarded-headers"] === "true" && keys["compute-full-forwarded-for"] === "true";
  return [
    `proxy_set_header Host ${host};`,
    "proxy_set_header Upgrade $http_upgrade;",
    "proxy_set_header Connection $connection_upgrade;",
    "proxy_set_header X-Request-ID $req_id;",
    "proxy_set_header X-Real-IP $remote_addr;",
    "proxy_set_header X-Original-Forwarded-For $http_x_forwarded_for;",
    "proxy_set_header X-Original-Forwarded-Host $http_x_forwarded_host;",
    `proxy_set_header X-Forwarded-For ${isFull ? "$full_forwarded_for" : "$remote_addr"};`,
    "proxy_set_header X-Forwarded-Host $best_host;",
    "proxy_set_header X-Forwarded-Proto $pass_scheme;",
    "proxy_set_header X-Forwarded-Port $pass_port;",
    "proxy_set_header X-Forwarded-Scheme $pass_scheme;",
    "proxy_set_header X-Scheme $pass_scheme;",
    'proxy_set_header Proxy "";',
  ];
}
