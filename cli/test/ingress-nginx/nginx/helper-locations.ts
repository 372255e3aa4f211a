/** Locations that others call: questions of authentication, sign-in, error pages and copies. */
import type { ServerFiles } from "./server-files.ts";
import { list } from "./list.ts";
import type { Location } from "./sites.ts";

/** There Lua makes a hash of the key. */
function authCacheLines(a: Location["annotations"], id: string): string {
  const key = a["auth-cache-key"];
  if (key === undefined) return "";
  const times = list(a["auth-cache-duration"] ?? "200 202 401 5m").map(
    (time) => `proxy_cache_valid ${time};`,
  );
  return `proxy_buffering on; proxy_cache auth_cache; proxy_cache_key "${id}${key}"; ${times.join(" ")}`;
}

/** The URL to return to is added unless the URL has the parameter. */
function signInUrl(url: string, parameter: string): string {
  const query = /\?(.*)$/s.exec(url)?.[1];
  if (new URLSearchParams(query).get(parameter)) return url;
  const back = `${parameter}=$pass_scheme://$http_host$escaped_request_uri`;
  return `${url}${query === undefined ? "?" : "&"}${back}`;
}

/** The locations that others call. */
export function helperLocations(
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
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Sent-From nginx-ingress-controller;
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Auth-Request-Redirect ${a["auth-request-redirect"] ?? "$request_uri"};
      proxy_set_header X-Request-ID $req_id;
      ${a["auth-method"] === undefined ? "" : "proxy_set_header X-Original-URI $request_uri; proxy_set_header X-Scheme $scheme;"}
      ${authCacheLines(a, id)}
      ${Object.entries(files.fieldsOf?.(a["auth-proxy-set-headers"] ?? "") ?? {})
        .map(([name, value]) => `proxy_set_header ${name} "${value}";`)
        .join(" ")}
      proxy_pass ${address}${path};
    }`);
  }
  const target = /^(https?):\/\/([^/$]+)(.*)$/s.exec(a["mirror-target"] ?? "");
  if (target !== null) {
    const [, , host = "", path = ""] = target;
    const [, name = "", owner = ""] = /^([^.]+)\.([^.]+)\.svc/.exec(host) ?? [];
    found.push(`    location = /_mirror_${id} {
      internal;
      proxy_set_header Host ${a["mirror-host"] ?? host};
      ${a["mirror-request-body"] === "off" ? 'proxy_pass_request_body off; proxy_set_header Content-Length "";' : ""}
      proxy_pass http://${files.addressOf(owner, name)}${path};
    }`);
  }
  const signIn = a["auth-signin"];
  if (signIn !== undefined) {
    found.push(`    location @signin_${id} {
      add_header Set-Cookie $auth_cookie;
      return 302 ${signInUrl(signIn, a["auth-signin-redirect-param"] ?? "rd")};
    }`);
  }
  if (a["custom-http-errors"] !== undefined) {
    const name = a["default-backend"];
    const pages =
      name === undefined ? `unix:${files.folder}/default-backend:` : files.addressOf(namespace, name);
    for (const code of list(a["custom-http-errors"])) {
      found.push(`    location @errors_${id}_${code} {
      proxy_set_header X-Code ${code};
      proxy_set_header X-Format $http_accept;
      proxy_set_header X-Original-URI $request_uri;
      proxy_set_header X-Namespace ${namespace};
      proxy_set_header X-Ingress-Name ${ingress};
      proxy_set_header X-Service-Name "${service ?? ""}";
      proxy_set_header X-Service-Port 80;
      proxy_set_header X-Request-ID $req_id;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header Host $http_host;
      rewrite ^ / break;
      proxy_pass http://${pages};
    }`);
    }
  }
  return found;
}
