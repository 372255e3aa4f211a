/** Policies that an API server with another schema may hold, and that are not valid. */
import type { StandInKind } from "../../src/api/stand-in.ts";

/** An invalid spec for each kind, with the problem and the effect that are reported for it. */
export const invalidPolicies: {
  readonly [K in StandInKind]: readonly [spec: object, problem: string, effect: string];
} = {
  BackendTLSPolicy: [
    { targetRefs: [{ group: "", kind: "Service", name: "tls" }], validation: 5 },
    "spec.validation: must be an object, found 5",
    "what it protects is closed",
  ],
  BasicAuth: [{ secretRef: 2 }, "spec.secretRef: must be an object, found 2", "what it protects is closed"],
  ClientTrafficPolicy: [
    { targetRefs: [{ name: "traffic" }], maxConnections: "few" },
    'spec.maxConnections: must be an integer, found "few"',
    "what it protects is closed",
  ],
  Compression: [{ level: "high" }, 'spec.level: must be an integer, found "high"', "the object is not used"],
  IpAccessControl: [{ allow: 3 }, "spec.allow: must be a list, found 3", "what it protects is closed"],
  JwtAuth: [{ issuer: 1 }, "spec.issuer: must be a string, found 1", "what it protects is closed"],
  PathRewriteRegex: [
    { pattern: 3, replacement: "a" },
    "spec.pattern: must be a string, found 3",
    "the object is not used",
  ],
  RateLimit: [
    { requestsPerSecond: "many" },
    'spec.requestsPerSecond: must be a number, found "many"',
    "the object is not used",
  ],
  RequestSizeLimit: [
    { maxSize: [1] },
    "spec.maxSize: must be an integer or a string, found a list",
    "the object is not used",
  ],
  RetryPolicy: [
    { attempts: "lots" },
    'spec.attempts: must be an integer, found "lots"',
    "the object is not used",
  ],
  RouteOptions: [
    { annotations: 4 },
    "spec.annotations: must be an object, found 4",
    "what it protects is closed",
  ],
  SvcBackendPolicy: [
    { targetRefs: [{ name: "web" }], timeouts: 7 },
    "spec.timeouts: must be an object, found 7",
    "what it protects is closed",
  ],
  SvcExternalAuth: [
    { targetRefs: [{ name: "guarded" }], protocol: "HTTPS", backendRef: { name: "auth", port: 80 } },
    'spec.protocol: must be one of HTTP, GRPC, found "HTTPS"',
    "what it protects is closed",
  ],
  SvcGatewayParameters: [
    { replicas: "no" },
    'spec.replicas: must be an integer, found "no"',
    "the object is not used",
  ],
  SvcIngressClassParameters: [
    { accessLog: 7, defaultAnnotations: {} },
    "spec.accessLog: must be true or false, found 7",
    "its defaults that can be read apply",
  ],
};
