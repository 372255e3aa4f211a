import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import type { KindName } from "../../../src/api/kinds.ts";
import {
  badDurations,
  badRanges,
  closed,
  duration,
  equalTo,
  ignoredFor,
  off,
  optional,
  range,
  refused,
  required,
  reservedHeaders,
  switchable,
  taken,
  tooMany,
  wrongNames,
  type ResourceCases,
} from "./case.ts";
import { externalAuthCases } from "./external-auth.ts";

const option = (name: string): string => annotationKey({ name });
/** The cases of kinds that filters and annotations refer to. */
export const extensionCases: { readonly [kind in KindName]?: ResourceCases } = {
  RetryPolicy: {
    full: {
      attempts: 2,
      codes: [503],
      backoff: "25ms",
      grpcCodes: [14],
      conditions: ["error", "timeout"],
      everyMethod: true,
      within: "10s",
    },
    fields: {
      attempts: [
        ...taken(1, 2_147_483_647),
        ...equalTo(0, null, undefined),
        ...off(-1, -2_147_483_648),
        ...refused("2", 1.5, 2_147_483_648, true, {}, [2]),
      ],
      codes: [
        ...taken([], [100], [599], [500, 503]),
        ...equalTo([500, 503], [503, 500, 503]),
        ...ignoredFor([503], [99, 503], [503, 600], [503, -1], [2_147_483_647, 503]),
        ...refused("503", [503, "504"], [1.5], [[503]], { 0: 503 }, tooMany(65, 503), [null]),
        ...equalTo([502, 503, 504], undefined, null),
      ],
      backoff: duration,
      grpcCodes: [
        ...taken([1], [16], []),
        ...ignoredFor([14], [0, 14], [14, 17], [-1, 14]),
        ...refused("14", ["14"], [1.5], tooMany(17, 14)),
        ...optional,
      ],
      conditions: [
        ...taken([], ["error"], ["timeout", "invalid-response"]),
        ...equalTo(["error", "timeout"], ["timeout", "error"]),
        ...refused("error", ["off"], ["error", "error"], [1], [null]),
        ...optional,
      ],
      everyMethod: [...taken(true), ...equalTo(undefined, false, null), ...refused("true", 1)],
      within: duration,
    },
  },
  IpAccessControl: {
    full: { deny: ["10.1.0.0/16"], allow: [range] },
    fields: {
      deny: [
        ...taken([], [range], ["10.0.0.1", "2001:db8::/32", "::1"], tooMany(4096, range)),
        ...ignoredFor([range], ...badRanges.map((bad) => [bad, range])),
        ...ignoredFor([], ["x".repeat(256)]),
        ...refused(range, [8], [["10.0.0.1"]], tooMany(4097, range), ["x".repeat(257)], [null]),
        ...optional,
      ],
      allow: [
        ...taken([range], ["10.0.0.1", "::/0"]),
        ...equalTo(undefined, [], null),
        ...ignoredFor([range], ...badRanges.map((bad) => [range, bad])),
        ...ignoredFor(undefined, ["localhost"], ["localhost", "10.0.0.0/33"]),
        ...refused(range, {}, [true], tooMany(4097, range)),
      ],
    },
  },
  RateLimit: {
    full: { requestsPerSecond: 5, burst: 2, byHeader: "X-Api-Key" },
    fields: {
      requestsPerSecond: [
        ...taken(1, 0.001, 1e-300, 1e15),
        ...off(0, -1, -0.5, null, undefined),
        ...refused("5", true, [], {}),
      ],
      burst: [
        ...taken(0, 1, 2_147_483_647),
        ...ignoredFor(0, -1, -2_147_483_648),
        ...refused(0.5, "1", 2_147_483_648, []),
        ...optional,
      ],
      byHeader: [
        ...taken("host", "x".repeat(256)),
        ...equalTo("x-key", " X-Key "),
        ...off(" ", "X Key", "X-Ä", "X\r\nY", "\u0000"),
        ...refused("", 1, [], "x".repeat(257)),
        ...optional,
      ],
      rates: [
        ...taken([{ requests: 1, period: "1s" }], [{ requests: 300, period: "1m", capacity: 1 }]),
        ...equalTo([], undefined, null),
        ...equalTo([{ requests: 9, period: "60s" }], [{ requests: 9, period: "1m", capacity: 9 }]),
        ...ignoredFor([], ...["0s", "25h", "-1s", "soon", "1"].map((period) => [{ requests: 1, period }])),
        ...refused({}, [1], [{ requests: 0, period: "1s" }], [{ requests: 1 }], [{ period: "1s" }]),
        ...refused(tooMany(9, { requests: 1, period: "1s" }), [{ requests: 1, period: "1s", capacity: 0 }]),
      ],
      maxConcurrent: [...taken(1, 1_000_000), ...refused(0, -1, 1.5, "1", 1_000_001), ...optional],
      exempt: [
        ...taken([range], ["10.0.0.1", "::/0"]),
        ...equalTo(undefined, [], null),
        ...ignoredFor([range], ...badRanges.map((bad) => [range, bad])),
        ...refused(range, {}, [true], tooMany(4097, range)),
      ],
      scope: [...taken("Namespace"), ...equalTo("Route", undefined, null), ...refused("route", "", 1)],
      status: [...taken(400, 503, 599), ...refused(399, 600, "503", 503.5), ...optional],
      concurrentStatus: [...taken(400, 503, 599), ...refused(200, 600, "503"), ...optional],
      bandwidth: [
        ...taken({ bytesPerSecond: 1 }, { bytesPerSecond: 1000, afterBytes: 5 }),
        ...refused({}, { bytesPerSecond: 0 }, { bytesPerSecond: 1, afterBytes: -1 }, 1, []),
        ...optional,
      ],
    },
  },
  Compression: {
    full: { gzip: true, brotli: true, level: 5, minSize: 100, types: ["text/css"] },
    fields: {
      gzip: switchable,
      brotli: switchable,
      level: [
        ...taken(1, 9),
        ...ignoredFor(undefined, 0, 10, -1, 2_147_483_647),
        ...refused("6", 1.5, 2_147_483_648, true),
        ...equalTo(6, null, undefined),
      ],
      minSize: [
        ...taken(0, 1, 9_007_199_254_740_991),
        ...ignoredFor(undefined, -1, 9_007_199_254_740_992),
        ...refused("1k", 0.5, {}),
        ...equalTo(1024, null, undefined),
      ],
      types: [
        ...taken([], ["text/html"], ["application/vnd.api+json"]),
        ...equalTo(["text/html"], ["TEXT/HTML", " text/html "]),
        ...ignoredFor(["text/css"], ["text/css", "html"], ["text/css", "text/html; charset=utf-8"]),
        ...ignoredFor(["text/css"], ["text/css", "*/*/*"], ["\u0000", "text/css"], ["", "text/css"]),
        ...refused("text/html", [1], tooMany(129, "a/b"), ["x".repeat(257)]),
      ],
    },
  },
  RequestSizeLimit: {
    full: { maxSize: "10m" },
    fields: {
      maxSize: [
        ...taken(0, "0", 1024, "1g", 9_007_199_254_740_991),
        ...equalTo("8k", "8K", " 8k ", 8192, "8192"),
        ...off("huge", "", "-1", -1, "1.5m", "1Mi", "1 m", 9_007_199_254_740_992, "9".repeat(256), "1\u0000"),
        ...refused(1.5, true, [], {}, "9".repeat(257)),
        ...required,
      ],
    },
  },
  PathRewriteRegex: {
    full: { pattern: "^/v1/(.*)$", replacement: "/v2/$1" },
    fields: {
      pattern: [
        ...taken("", "/", "(a+)+$", "x".repeat(1024)),
        ...off("(", "[", "a**", "(?=a)", "(a)\\1", "x".repeat(1025), "(a{1000}){1000}"),
        ...refused(1, [], "x".repeat(4097)),
        ...required,
      ],
      replacement: [
        ...taken("", "/", "/$1/$2", "/%20", "$"),
        ...equalTo("/~u", "/%7Eu"),
        ...equalTo("/a/$1", "/a/./$1", "/a/b/../$1", "/../a/$1", "/a/%2E/$1"),
        ...off("/a b", "/a?b", "/a#b", "/a\r\nX: y", "/\u0000", "/ä", "/%zz"),
        ...off("/$1/../a", "/%00", "/$%31"),
        ...refused(1, {}, "x".repeat(4097)),
        ...required,
      ],
    },
  },
  RouteOptions: {
    full: { annotations: { [option("max-body-size")]: "1k", [option("closed-paths")]: "/admin" } },
    fields: {
      annotations: [
        ...taken({ [option("max-body-size")]: "2k" }),
        ...equalTo({}, { [option("forwarded-for-header")]: "" }),
        ...ignoredFor(
          {},
          { [option("max-body-size")]: "10 apples" },
          { [option("max-body-size")]: "" },
          { [option("max-body-size")]: "9".repeat(65_536) },
          { [option("no-such")]: "x" },
          { "example.com/other": "x" },
          { [option("ssl-redirect")]: "true" },
          { [option("use-regex")]: "true" },
        ),
        ...closed(
          { [option("closed-paths")]: "admin" },
          { [option("auth-jwt")]: "?" },
          { [option("auth-jwt")]: "shop/none" },
          { [option("auth-tls-secret")]: "shop/users" },
        ),
        ...refused(
          "1k",
          [],
          { [option("max-body-size")]: 1 },
          { [option("max-body-size")]: "9".repeat(65_537) },
        ),
        ...required,
      ],
    },
  },
  JwtAuth: {
    full: {
      issuer: "https://id.example.com/",
      audiences: ["shop"],
      jwks: { remote: { uri: "https://id.example.com/keys", refreshInterval: "10m" } },
      fromHeaders: [{ name: "X-Token", valuePrefix: "Token " }],
      claimToHeaders: [{ claim: "sub", header: "X-Subject" }],
      forwardPayloadHeader: "X-Claims",
      forward: true,
    },
    fields: {
      issuer: [...taken("i", "\u0000"), ...refused("", 1, [], "i".repeat(2049)), ...required],
      audiences: [
        ...taken(["a", "b"], [""]),
        ...equalTo([], undefined, null),
        ...refused("a", [1], tooMany(65, "a"), ["a".repeat(2049)]),
      ],
      jwks: [
        ...closed(undefined, null, {}, { remote: { uri: "https://a.example/" }, inline: { jwks: {} } }),
        ...closed(
          { inline: { jwks: {} } },
          { inline: { jwks: { keys: [] } } },
          { inline: { jwks: { keys: 1 } } },
        ),
        ...closed({ inline: { jwks: { keys: [{ kty: "oct", k: "AA" }, null, 7, "x"] } } }),
        ...closed({ inline: { jwks: { keys: tooMany(101, {}) } } }),
        ...refused([], "x", { inline: {} }, { inline: { jwks: "{}" } }, { remote: {} }),
      ],
      "jwks.remote.uri": [
        ...taken("https://id.example.com:8443/a?b=c"),
        ...equalTo("https://id.example.com/keys", "https://ID.example.com/keys#now"),
        ...closed("http://id.example.com/keys", "https://", "id.example.com", "https://u:p@id.example.com/"),
        ...closed("ftp://a", "file:///etc/passwd", "\u0000", "https://exa mple.com", "x".repeat(2048)),
        ...refused("", 1, "x".repeat(2049)),
        ...required,
      ],
      "jwks.remote.refreshInterval": [
        ...taken("30s", "24h"),
        ...equalTo("30s", "1ns", "29s"),
        ...equalTo("5m", "0", undefined, null),
        ...ignoredFor("5m", ...badDurations),
        ...refused(5, "1".repeat(257)),
      ],
      fromHeaders: [
        ...taken([{ name: "A" }, { name: "B", valuePrefix: "" }]),
        ...equalTo(undefined, [], null),
        ...refused("Authorization", [{}], [{ name: "A", valuePrefix: 1 }], tooMany(17, { name: "A" })),
        ...refused(...wrongNames.map((name) => [{ name }])),
      ],
      claimToHeaders: [
        ...taken([{ claim: "a b", header: "X-A" }]),
        ...equalTo([], undefined, null),
        ...ignoredFor(
          [{ claim: "sub", header: "X-A" }],
          ...reservedHeaders.map((header) => [
            { claim: "sub", header: "X-A" },
            { claim: "aud", header },
          ]),
        ),
        ...refused([{ claim: "sub" }], [{ header: "X-A" }], [{ claim: "", header: "X-A" }], "sub"),
        ...refused(...wrongNames.map((header) => [{ claim: "sub", header }])),
        ...refused(tooMany(65, { claim: "sub", header: "X-A" })),
      ],
      forwardPayloadHeader: [
        ...taken("X_A", "x".repeat(256)),
        ...ignoredFor(undefined, ...reservedHeaders),
        ...refused(...wrongNames, 1, []),
        ...optional,
      ],
      forward: switchable,
    },
  },
  BasicAuth: {
    full: { secretRef: { name: "users" } },
    fields: {
      secretRef: [...refused("users", [], {}), ...required],
      "secretRef.name": [
        ...closed("none", "N".repeat(253), "../x", "a\u0000"),
        ...refused("", 1, "n".repeat(254)),
        ...required,
      ],
      "secretRef.namespace": [
        ...equalTo(undefined, "shop", null),
        ...closed("elsewhere", "sh op"),
        ...refused("", 1, "n".repeat(64)),
      ],
    },
  },
  SvcExternalAuth: externalAuthCases,
};
