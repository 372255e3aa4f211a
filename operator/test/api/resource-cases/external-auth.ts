import {
  badDurations,
  closed,
  equalTo,
  ignoredFor,
  optional,
  refused,
  required,
  reservedHeaders,
  taken,
  targets,
  tooMany,
  wrongNames,
  type ResourceCases,
} from "./case.ts";

const cacheFor = (...times: readonly object[]) => ({ key: "$http_authorization", times });
const aMinute = cacheFor({ duration: "1m" });

export const externalAuthCases: ResourceCases = {
  full: {
    protocol: "HTTP",
    backendRef: { name: "auth", port: 9000 },
    timeout: "500ms",
    failClosed: false,
    allowedHeaders: ["Cookie"],
    allowedResponseHeaders: ["X-User"],
    clientResponseHeaders: ["X-Session"],
  },
  fields: {
    protocol: [...taken("GRPC"), ...refused("http", "", "TCP", 1), ...required],
    backendRef: [...refused("auth", [], { name: "auth" }, { port: 9000 })],
    "backendRef.name": [
      ...closed("none", "Not A Name", "a\u0000"),
      ...refused("", 1, "n".repeat(254)),
      ...required,
    ],
    "backendRef.namespace": [
      ...equalTo(undefined, "shop", null),
      ...closed("elsewhere"),
      ...refused("", "n".repeat(64)),
    ],
    "backendRef.port": [...closed(1, 9001, 65_535), ...refused(0, 65_536, -1, "9000", 1.5), ...required],
    timeout: [
      ...taken("1ms", "24h"),
      ...equalTo("2s", "0", undefined, null),
      ...ignoredFor("2s", ...badDurations),
      ...refused(2, "1".repeat(257)),
    ],
    failClosed: [...taken(false), ...equalTo(true, undefined, null), ...refused("no", 0)],
    allowedHeaders: [
      ...taken([], ["X-A"]),
      ...equalTo(["cookie"], ["COOKIE"]),
      ...ignoredFor(["X-A"], ...reservedHeaders.map((name) => ["X-A", name])),
      ...refused(...wrongNames.map((name) => [name]), "X-A", tooMany(33, "X-A")),
      ...equalTo(["Authorization"], undefined, null),
    ],
    allowedResponseHeaders: [
      ...taken(["X-A"]),
      ...equalTo([], undefined, null),
      ...ignoredFor(["X-A"], ...reservedHeaders.map((name) => [name, "X-A"])),
      ...refused(...wrongNames.map((name) => [name]), "X-A", tooMany(65, "X-A")),
    ],
    clientResponseHeaders: [
      ...taken(["X-A"], []),
      ...equalTo(["Set-Cookie"], undefined, null, ["SET-COOKIE"]),
      ...ignoredFor(
        ["X-A"],
        ...[...reservedHeaders, "Content-Type", "content-encoding"].map((name) => [name, "X-A"]),
      ),
      ...refused(...wrongNames.map((name) => [name]), "X-A", tooMany(65, "X-A")),
    ],
    "forwardBody.maxSize": [
      ...taken(1, 65_535),
      ...equalTo(0, undefined, null),
      ...refused(-1, 65_536, "1k", 0.5),
    ],
    // Whole URLs are refused beside a backendRef, which every case has, with a problem of the spec.
    "http.url": [...refused("", "/auth", "ftp://a", 1, `http://${"x".repeat(2048)}`), ...optional],
    "http.path": [
      ...taken("/oauth2/auth", "/check$request_uri", "/a?uri=${escaped_request_uri}&host=$host"),
      ...closed("/$unknown", "/a$", "/a$1", "/a#b", "/a\u0000", "/\n"),
      ...refused("", "check", "$request_uri", 1, `/${"x".repeat(2048)}`),
      ...optional,
    ],
    "http.host": [
      ...taken("auth.example.com", "auth.example.com:8443", "$host"),
      ...closed("a b", "a/b", "$unknown", "a:0", "u@a"),
      ...refused("", 1, "x".repeat(513)),
      ...optional,
    ],
    "http.method": [...taken("GET", "OPTIONS"), ...refused("get", "CONNECT", "", 1), ...optional],
    "http.headers": [
      ...taken([{ name: "X-A", value: "$scheme://$http_host" }], [{ name: "X-Forwarded-For", value: "" }]),
      ...equalTo(undefined, [], null),
      ...closed(...reservedHeaders.map((name) => [{ name, value: "x" }])),
      ...closed([{ name: "X-A", value: "$" }], [{ name: "X-A", value: "a\nb" }]),
      ...refused(...wrongNames.map((name) => [{ name, value: "x" }]), [{ name: "X-A" }], [{ value: "x" }]),
      ...refused([{ name: "X-A", value: "x".repeat(2049) }]),
      ...refused(Array.from({ length: 17 }, (_, index) => ({ name: `X-${index}`, value: "x" }))),
    ],
    "http.signIn.url": [
      ...taken("https://$host/oauth2/start", "/login?a=b", "http://sso.example.com"),
      ...refused("", "login", "ftp://a", "//a", 1, `/${"x".repeat(2048)}`),
    ],
    "http.signIn": [
      ...taken({ url: "/login", redirectParam: "next" }),
      ...equalTo({ url: "/login", redirectParam: "rd" }, { url: "/login" }),
      ...ignoredFor(undefined, { url: "/login?a=$unknown" }, { url: "/$" }, { url: "https:///x" }),
      ...refused({}, { url: "/login", redirectParam: "a=b" }, { url: "/login", redirectParam: "" }, "/login"),
      ...optional,
    ],
    "http.deniedStatuses": [
      ...taken([401, 403], [300, 599]),
      ...refused([], [200], [600], ["401"], 401, [401, 401], tooMany(65, 401)),
      ...optional,
    ],
    "http.cache": [
      ...taken(cacheFor({ duration: "5m" }), cacheFor({ duration: "1s", statuses: [200, 401] })),
      ...taken({ key: "$host$cookie_session", times: [{ duration: "24h", statuses: [204] }] }),
      ...ignoredFor(undefined, ...["0s", "25h", "-1s", "soon"].map((text) => cacheFor({ duration: text }))),
      ...ignoredFor(undefined, ...["$host", "static", "$unknown", "$"].map((key) => ({ ...aMinute, key }))),
      ...refused({}, { key: "$cookie_a" }, { times: aMinute.times }, { ...aMinute, key: "" }, "$cookie_a"),
      ...refused({ ...aMinute, times: [] }, cacheFor({ duration: "" }), cacheFor({ statuses: [200] })),
      ...refused(cacheFor({ duration: "1m", statuses: [] }), cacheFor({ duration: "1m", statuses: [199] })),
      ...optional,
    ],
    targetRefs: [...equalTo(undefined, [], null), ...targets("Gateway")],
  },
};
