/** The features that are measured, each on a route of its own. */
export type Feature = {
  /** The name of the feature, and of its Ingress and host. */
  readonly name: string;
  readonly title: string;
  /** Annotations without their prefix. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The Service of the route, `backend` by default. */
  readonly backend?: string;
  /** Fields of requests in addition to those of a browser, sent with and without the feature. */
  readonly headers?: readonly string[];
  readonly withToken?: true;
  readonly path?: string;
};

/** EXAMPLE MATERIAL: the hash of the password `secret`. */
export const user = { name: "alice", hash: "$2y$10$khmgNAKTwUSl5rx/WsZBXuk75HQRJGtJZ/d8fUBAQ7StoHDdd8Uta" };

const basic = `Authorization: Basic ${Buffer.from(`${user.name}:secret`).toString("base64")}`;

/** The route without features, with which all others are compared. */
export const without: Feature = { name: "without", title: "no feature", annotations: {} };

export const features: readonly Feature[] = [
  {
    name: "ip-access-control",
    title: "101 ranges of addresses that may ask",
    annotations: { "ip-access-control": "bench/ranges" },
  },
  {
    name: "rate-limit",
    title: "one rate for the route",
    annotations: { "rate-limit": "bench/route" },
  },
  {
    name: "rate-limit-shared",
    title: "a rate and a number of requests in progress, for the namespace",
    annotations: { "rate-limit": "bench/namespace" },
  },
  {
    name: "max-body-size",
    title: "a limit on bodies",
    annotations: { "max-body-size": "1m" },
  },
  {
    name: "cors",
    title: "requests of a page of another origin",
    annotations: { "cors-allow-origins": "https://app.example.com", "cors-expose-headers": "X-Bench" },
    headers: ["Origin: https://app.example.com"],
  },
  {
    name: "auth-basic",
    title: "a password that was compared before",
    annotations: { "auth-basic-secret": "bench/users" },
    headers: [basic],
  },
  {
    name: "auth-jwt",
    title: "a token that was verified before",
    annotations: { "auth-jwt": "bench/tokens" },
    withToken: true,
  },
  {
    name: "ext-auth",
    title: "an answer of a service that is remembered",
    annotations: { "ext-auth": "bench/cached" },
    headers: ["Authorization: Bearer bench"],
  },
  {
    name: "rewrite-target",
    title: "another path for the backend",
    annotations: { "rewrite-target": "/other" },
  },
  {
    name: "request-headers",
    title: "a field set, one added and one removed on the way to the backend",
    annotations: {
      "request-header-set": "X-Bench: set",
      "request-header-add": "X-Added: added",
      "request-header-remove": "Cookie",
    },
  },
  {
    name: "response-headers",
    title: "the same on the way back",
    annotations: {
      "response-header-set": "X-Bench: set",
      "response-header-add": "X-Added: added",
      "response-header-remove": "Server",
    },
  },
  {
    name: "request-id",
    title: "an id for the backend",
    annotations: { "forwarding-fields": "request-id" },
  },
  {
    name: "timeouts",
    title: "limits for connecting, sending and reading",
    annotations: { "connect-timeout": "2s", "send-timeout": "30s", "read-timeout": "30s" },
  },
  {
    name: "retry",
    title: "retries, none of which is needed",
    annotations: { retry: "bench/twice" },
  },
  {
    name: "session-cookie",
    title: "a session that its cookie has not begun",
    annotations: {},
    backend: "sticky",
  },
  {
    name: "mirror-target",
    title: "a copy of each request",
    annotations: { "mirror-target": "copies.bench" },
  },
  {
    name: "compression",
    title: "64 KiB compressed by gzip, level 1",
    annotations: { compression: "bench/gzip" },
    path: "/bytes/65536",
  },
];

export const hostOf = (name: string): string => `${name}.example.com`;
