/** Limits, attempts and copies, as the template of ingress-nginx writes them. */
import { list } from "./list.ts";
import { locationsOf, type Location, type Site } from "./sites.ts";

type Annotations = Location["annotations"];

/** The zones belong to the Ingress; clients of its list have no key. */
export function limitZones(sites: readonly Site[]): string {
  const zones = new Map<string, string>();
  for (const { ingress, namespace, annotations: a } of sites.flatMap((site) => locationsOf(site))) {
    const id = zoneOf({ ingress, namespace });
    const allowed = list(a["limit-allowlist"] ?? a["limit-whitelist"]);
    const lines = [
      `geo $limited_${id} { default 1; ${allowed.map((range) => `${range} 0;`).join(" ")} }`,
      `map $limited_${id} $key_${id} { 0 ""; 1 $binary_remote_addr; }`,
      ...(isUnlimited(a["limit-rps"])
        ? []
        : [`limit_req_zone $key_${id} zone=${id}_rps:1m rate=${a["limit-rps"]}r/s;`]),
      ...(isUnlimited(a["limit-rpm"])
        ? []
        : [`limit_req_zone $key_${id} zone=${id}_rpm:1m rate=${a["limit-rpm"]}r/m;`]),
      ...(a["limit-connections"] === undefined ? [] : [`limit_conn_zone $key_${id} zone=${id}_conn:1m;`]),
    ];
    if (lines.length > 2) zones.set(id, lines.map((line) => `  ${line}\n`).join(""));
  }
  return [...zones.values()].join("");
}

const isUnlimited = (limit: string | undefined): boolean => limit === undefined || limit === "0";

const zoneOf = ({ namespace, ingress }: Pick<Location, "namespace" | "ingress">): string =>
  `${namespace}_${ingress}`.replaceAll("-", "_");

export function limitLines(one: Location): readonly string[] {
  const { annotations: a } = one;
  const burst = Number(a["limit-burst-multiplier"] ?? 5);
  const ofRate = (kind: "rps" | "rpm"): readonly string[] => {
    const limit = Number(a[`limit-${kind}`] ?? 0);
    if (limit === 0) return [];
    return [`limit_req zone=${zoneOf(one)}_${kind}${burst === 0 ? "" : ` burst=${limit * burst} nodelay`};`];
  };
  const connections = a["limit-connections"];
  return [
    ...(connections === undefined ? [] : [`limit_conn ${zoneOf(one)}_conn ${connections};`]),
    ...ofRate("rps"),
    ...ofRate("rpm"),
  ];
}

/** How often a request is sent, and how long each try may take. */
export const attemptLines = (a: Annotations): readonly string[] => [
  `proxy_connect_timeout ${a["proxy-connect-timeout"] ?? "5"}s;`,
  `proxy_send_timeout ${a["proxy-send-timeout"] ?? "60"}s;`,
  `proxy_read_timeout ${a["proxy-read-timeout"] ?? "60"}s;`,
  `proxy_next_upstream ${a["proxy-next-upstream"] ?? "error timeout"};`,
  `proxy_next_upstream_timeout ${a["proxy-next-upstream-timeout"] ?? "0"};`,
  `proxy_next_upstream_tries ${a["proxy-next-upstream-tries"] ?? "3"};`,
];

export const mirrorLines = ({ id, annotations: a }: Location): readonly string[] =>
  a["mirror-target"] === undefined
    ? []
    : [`mirror /_mirror_${id};`, `mirror_request_body ${a["mirror-request-body"] ?? "on"};`];
