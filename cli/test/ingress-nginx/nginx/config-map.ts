/** Settings of the ConfigMap of ingress-nginx that are not defaults of annotations, as its template writes them. */
import { list } from "./list.ts";

/** The keys with their values, and the fields of the ConfigMaps that `add-headers` and `proxy-set-headers` name. */
export type Settings = {
  readonly keys: Readonly<Record<string, string>>;
  readonly added: Readonly<Record<string, string>>;
  readonly sent: Readonly<Record<string, string>>;
};

export const noSettings: Settings = { keys: {}, added: {}, sent: {} };

/** The lines of the `http` block. */
export function httpLines({ keys }: Settings): readonly string[] {
  const trusts = keys["use-forwarded-headers"] === "true";
  const trusted = list(keys["proxy-real-ip-cidr"] ?? "0.0.0.0/0");
  const from = (field: string, otherwise: string, variable: string): string =>
    trusts
      ? `map $${field} $${variable} { default $${field}; "" ${otherwise}; }`
      : `map $scheme $${variable} { default ${otherwise}; }`;
  return [
    `underscores_in_headers ${keys["enable-underscores-in-headers"] === "true" ? "on" : "off"};`,
    `limit_req_status ${keys["limit-req-status-code"] ?? "503"};`,
    `limit_conn_status ${keys["limit-conn-status-code"] ?? "503"};`,
    `map $http_x_request_id $req_id { default $http_x_request_id; ${keys["generate-request-id"] === "false" ? "" : '"" $request_id;'} }`,
    "map $scheme $scheme_port { https 443; default 80; }",
    from("http_x_forwarded_proto", "$scheme", "pass_scheme"),
    from("http_x_forwarded_port", "$scheme_port", "pass_port"),
    from("http_x_forwarded_host", "$http_host", "best_host"),
    'map $http_x_forwarded_for $full_forwarded_for { default "$http_x_forwarded_for, $realip_remote_addr"; "" $realip_remote_addr; }',
    ...(trusts
      ? [
          "real_ip_header X-Forwarded-For;",
          "real_ip_recursive on;",
          ...trusted.map((range) => `set_real_ip_from ${range};`),
        ]
      : []),
  ];
}

/** The value of `Strict-Transport-Security`; empty: none is sent. */
export function hstsOf({ keys }: Settings): string {
  if (keys["hsts"] === "false") return "";
  const parts = [
    `max-age=${keys["hsts-max-age"] ?? "31536000"}`,
    ...(keys["hsts-include-subdomains"] === "false" ? [] : ["includeSubDomains"]),
    ...(keys["hsts-preload"] === "true" ? ["preload"] : []),
  ];
  return parts.join("; ");
}

/** The lines of every location. */
export const settingLines = ({ keys, added, sent }: Settings): readonly string[] => [
  ...list(keys["hide-headers"]).map((name) => `proxy_hide_header ${name};`),
  // A module that Debian does not have replaces them there.
  ...Object.entries(added).flatMap(([name, value]) => [
    `proxy_hide_header ${name};`,
    `add_header ${name} "${value}" always;`,
  ]),
  ...Object.entries(sent).map(([name, value]) => `proxy_set_header ${name} "${value}";`),
  ...(keys["proxy-add-original-uri-header"] === "true"
    ? ["proxy_set_header X-Original-URI $request_uri;"]
    : []),
];
