/** Routes with all filters, in generated combinations. */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import {
  endpointsKey,
  htpasswdKey,
  jwksKey,
  l4Key,
  listenerKey,
  routeKey,
} from "@svc-gateway/common/ir/keys.ts";
import type { L4Host, L4Route } from "@svc-gateway/common/ir/l4.ts";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Backend, Route } from "@svc-gateway/common/ir/route.ts";
import type { PublicKey } from "@svc-gateway/common/ir/credentials.ts";
import type { Choices } from "./random.ts";

export type Places = {
  readonly failing: readonly number[];
  readonly failingHttp2: number;
  readonly gate: number;
  readonly dead: readonly number[];
};

export const hosts = Array.from({ length: 12 }, (_, index) => `h${index}.example`);

const features = (choices: Choices): Required<RouteFeatures> => ({
  "trust-forwarded-for": { header: "X-Forwarded-For" },
  "forwarding-fields": { requestId: true, original: "x-forwarded-for", withoutVia: true, names: "plain" },
  "error-pages": {
    codes: [403, 413, 500, 502, 503, 504],
    page: {
      service: "ns/failing",
      endpoints: choices.one(["ns/failing/80", "ns/dead/80"]),
      protocol: "http1",
    },
    standIn: { service: "ns/failing", endpoints: "ns/failing/80", protocol: "http1" },
    fields: [],
  },
  satisfy: "any",
  "closed-paths": { paths: [{ type: "beginning", value: "/closed" }], statusCode: 403 },
  "ip-access-control": { deny: ["198.51.100.0/24"], allow: ["0.0.0.0/0"] },
  "rate-limit": { requestsPerSecond: choices.one([1, 1_000]), burst: 5 },
  "ssl-redirect": { port: 443, statusCode: 308 },
  "max-body-size": { maxBytes: choices.one([100, 5_000, 1_000_000]) },
  "auth-basic-secret": [{ htpasswd: choices.one(["ns/users", "ns/none"]) }],
  "auth-jwt": [
    {
      rules: {
        keySet: "ns/id",
        issuer: "https://id.example",
        audiences: ["shop"],
        fromHeaders: [{ name: "Authorization", prefix: "Bearer " }],
        forward: choices.chance(0.5),
        claimToHeaders: [{ claim: "sub", header: "X-User" }],
      },
    },
  ],
  "ext-auth": [
    {
      check: {
        endpoints: choices.one(["ns/gate/80", "ns/gate/80", "ns/dead/80"]),
        protocol: "http1",
        api: "http",
        timeoutMs: 100,
        failClosed: choices.chance(0.5),
        allowedHeaders: ["authorization"],
        allowedResponseHeaders: ["x-user"],
        clientResponseHeaders: ["set-cookie"],
        ...(choices.chance(0.5) && { maxBodyBytes: 5_000 }),
      },
    },
  ],
  "request-headers": { set: [{ name: "X-Set", value: "1" }], remove: ["Accept"] },
  "response-headers": { add: [{ name: "X-Add", value: "1" }], remove: ["Server"] },
  cors: {
    allowOrigins: ["https://shop.example"],
    allowCredentials: choices.chance(0.5),
    allowMethods: ["PUT"],
    allowHeaders: ["*"],
    exposeHeaders: ["*"],
    maxAgeSeconds: 5,
  },
  redirect: { hostname: "b.example", statusCode: 302 },
  retry: { attempts: choices.one([1, 3]), codes: [502, 503], ...(choices.chance(0.5) && { backoffMs: 5 }) },
  "rewrite-target": { path: { type: "full", value: "/rewritten" } },
  "mirror-target": [
    { service: "ns/mirror", endpoints: choices.one(["ns/failing/80", "ns/dead/80"]), protocol: "http1" },
  ],
  timeouts: { requestTimeoutMs: choices.one([50, 150]), readTimeoutMs: choices.one([30, 150]) },
  compression: {
    gzip: true,
    brotli: choices.chance(0.5),
    level: 1,
    minSize: 1,
    types: ["text/plain", "text/html"],
  },
});

/** Features that answer the request themselves; they are rare, so that the features after them are reached. */
const rare = new Set<string>(["ssl-redirect", "redirect", "auth-basic-secret", "auth-jwt"]);

const some = (choices: Choices): RouteFeatures =>
  Object.fromEntries(
    Object.entries(features(choices)).filter(([slug]) => choices.chance(rare.has(slug) ? 0.25 : 0.6)),
  );

const backends = (choices: Choices): Backend[] =>
  Array.from({ length: 1 + choices.below(2) }, () => {
    const isHttp2 = choices.chance(0.25);
    return {
      weight: 1,
      service: "ns/any",
      endpoints: isHttp2 ? "ns/failing-h2/80" : choices.one(["ns/failing/80", "ns/failing/80", "ns/dead/80"]),
      protocol: isHttp2 ? "http2" : "http1",
    };
  });

const endpoints = (name: string, ports: readonly number[], policy: object = {}): Resource =>
  encodeResource<"endpoints">(endpointsKey(`ns/${name}/80`), {
    policy,
    service: `ns/${name}`,
    resolve: "static",
    addresses: ports.toSorted((a, b) => a - b).map((port) => ({ host: "127.0.0.1", port })),
  });

/** Listener ports of routes below HTTP. */
export const l4Ports = { tcp: 9000, tls: 9443, udp: 5300 } as const;

/** Routes for connections and datagrams, to the same backends: those that answer, those that fail, and none. */
function belowHttp(choices: Choices): readonly Resource[] {
  const route = (kind: string): L4Route => ({
    id: `${kind.toLowerCase()}/ns/below:0`,
    source: { kind, namespace: "ns", name: "below" },
    backends: ["ns/failing/80", "ns/dead/80", undefined]
      .filter(() => choices.chance(0.7))
      .map((set) => ({ weight: 1 + choices.below(3), service: "ns/any", ...(set && { endpoints: set }) })),
  });
  const host = (kind: string, mode: L4Host["mode"]): L4Host => ({
    ...{ kind: "any", host: "*", mode },
    ...(choices.chance(0.9) && { route: route(kind) }),
  });
  const { tcp, tls, udp } = l4Ports;
  const listener = (port: number, protocol: Listener["protocol"]): Listener => ({
    port,
    publicPort: port,
    protocol,
  });
  return [
    encodeResource<"listener">(listenerKey("ns/below"), {
      listeners: [listener(udp, "udp"), listener(tcp, "tcp"), listener(tls, "tls")],
    }),
    encodeResource<"l4">(l4Key("tcp", tcp), { hosts: [host("TCPRoute", "passthrough")] }),
    encodeResource<"l4">(l4Key("udp", udp), { hosts: [host("UDPRoute", "passthrough")] }),
    encodeResource<"l4">(l4Key("tls", tls), {
      hosts: [host("TLSRoute", choices.one(["passthrough", "terminate"]))],
    }),
  ];
}

/** Everything that is served, other routes each time. */
export function generated(
  choices: Choices,
  places: Places,
  key: PublicKey,
  hash: string,
): readonly Resource[] {
  const tables = hosts
    .filter(() => choices.chance(0.9))
    .flatMap((host) => {
      const routes: Route[] = ["/", "/a"].map((path) => ({
        id: `httproute/ns/${host}${path}:0`,
        source: { kind: "HTTPRoute", namespace: choices.one(["ns", "other"]), name: host },
        match: { path: { type: "prefix", value: path } },
        features: some(choices),
        backends: backends(choices),
      }));
      const table = {
        listener: "Gateway/ns/edge/http",
        inherit: true,
        routes,
        ...(choices.chance(0.2) && {
          filters: [{ features: { "rate-limit": features(choices)["rate-limit"] } }],
        }),
      };
      return [80, 443].map((port) =>
        encodeResource<"route">(routeKey("gateway", port, { kind: "exact", host }), table),
      );
    });
  return [
    ...tables,
    ...belowHttp(choices),
    endpoints("failing", choices.chance(0.1) ? [] : places.failing),
    endpoints("failing-h2", [places.failingHttp2]),
    endpoints("gate", [places.gate]),
    endpoints("dead", [choices.one(places.dead)]),
    encodeResource<"jwks">(jwksKey("ns/id"), { keys: [key] }),
    encodeResource<"htpasswd">(htpasswdKey("ns/users"), { users: [{ name: "alice", hash }] }),
  ];
}
