/** CORS, as the template of ingress-nginx writes it. */
import { list } from "./list.ts";
import type { Location } from "./sites.ts";

export function corsLines(a: Location["annotations"]): readonly string[] {
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
    ...["Origin", "Credentials", "Methods", "Headers"].map(
      (name) => `proxy_hide_header Access-Control-Allow-${name};`,
    ),
    "proxy_hide_header Access-Control-Max-Age;",
    "proxy_hide_header Access-Control-Expose-Headers;",
  ];
}
