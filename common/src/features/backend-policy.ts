import { z } from "zod";
import { isToken, parseHeaderName } from "../values/header-name.ts";
import { ok, problem, type Result } from "../values/result.ts";
import { sessionCookieSchema } from "./session-cookie.ts";

/**
 * The value that is hashed: the client's address, the path with its query, or the value of a header (lower case) or
 * cookie.
 */
const hashKeySchema = z.discriminatedUnion("from", [
  z.object({ from: z.enum(["source-ip", "uri"]) }),
  z.object({ from: z.enum(["header", "cookie"]), name: z.string() }),
]);

const loadBalancerSchema = z.discriminatedUnion("algorithm", [
  z.object({ algorithm: z.enum(["round_robin", "least_conn", "ewma"]) }),
  z.object({ algorithm: z.literal("hash"), key: hashKeySchema }),
]);

const milliseconds = z.number().positive();

const circuitBreakerSchema = z.object({
  /** Percentage of failures at which the breaker opens. */
  threshold: z.int().min(1).max(100),
  windowMs: milliseconds,
  minRequests: z.int().min(1),
  openMs: milliseconds,
  /**
   * The maximum open time, up to which it doubles with each failed probe; if equal to `openMs`, the open time is
   * constant.
   */
  maxOpenMs: milliseconds,
});

/** Keeps a client on an endpoint by a cookie of the proxy, or by the value of a header (lower case). */
const sessionPersistenceSchema = z.object({
  type: z.enum(["cookie", "header"]),
  name: z.string(),
  /** The attributes of the cookie; if absent, it is set with `Path=/`, for the session of the browser. */
  cookie: sessionCookieSchema.optional(),
});

/**
 * The policy by which the endpoints of a Service are selected and connected to; absent fields have their defaults. It
 * is part of the endpoint sets of the Service. See docs/features/backend-policy.md.
 */
export const backendPolicySchema = z.object({
  connectTimeoutMs: milliseconds.optional(),
  idleTimeoutMs: milliseconds.optional(),
  loadBalancer: loadBalancerSchema.optional(),
  circuitBreaker: circuitBreakerSchema.optional(),
  sessionPersistence: sessionPersistenceSchema.optional(),
});

export type HashKey = Readonly<z.infer<typeof hashKeySchema>>;
export type LoadBalancer = Readonly<z.infer<typeof loadBalancerSchema>>;
export type CircuitBreaker = Readonly<z.infer<typeof circuitBreakerSchema>>;
export type SessionPersistence = Readonly<z.infer<typeof sessionPersistenceSchema>>;
export type BackendPolicy = {
  readonly connectTimeoutMs?: number | undefined;
  readonly idleTimeoutMs?: number | undefined;
  readonly loadBalancer?: LoadBalancer | undefined;
  readonly circuitBreaker?: CircuitBreaker | undefined;
  readonly sessionPersistence?: SessionPersistence | undefined;
};

/** Name of the session cookie if the policy specifies none. */
export const defaultSessionCookie = "__svc_session";

const algorithms =
  "round_robin, least_conn, ewma, ip_hash, hash:source-ip, hash:uri, hash:header=<name> or hash:cookie=<name>";

/** Parses `loadBalancer.algorithm` of a SvcBackendPolicy. */
export function parseAlgorithm(text: string): Result<LoadBalancer> {
  const trimmed = text.trim();
  switch (trimmed) {
    case "round_robin":
    case "least_conn":
    case "ewma":
      return ok({ algorithm: trimmed });
    case "ip_hash":
    case "hash:source-ip":
      return ok({ algorithm: "hash", key: { from: "source-ip" } });
    case "hash:uri":
      return ok({ algorithm: "hash", key: { from: "uri" } });
    default: {
      const key = parseNamedKey(trimmed);
      return key.ok ? ok({ algorithm: "hash", key: key.value }) : key;
    }
  }
}

function parseNamedKey(text: string): Result<HashKey> {
  const [, from, name = ""] = /^hash:(header|cookie)=(.*)$/s.exec(text) ?? [];
  if (from === "header") {
    const header = parseHeaderName(name);
    return header.ok ? ok({ from, name: header.value.toLowerCase() }) : header;
  }
  if (from === "cookie") {
    const cookie = parseCookieName(name);
    return cookie.ok ? ok({ from, name: cookie.value }) : cookie;
  }
  return problem(`"${text.slice(0, 64)}" is not an algorithm`, algorithms);
}

/** Reads the name of a cookie, a token (RFC 6265 4.1.1). The name is case-sensitive. */
export function parseCookieName(text: string): Result<string> {
  const name = text.trim();
  return isToken(name) && name.length <= maxNameLength
    ? ok(name)
    : problem(
        `"${name.slice(0, 64)}" is not the name of a cookie`,
        `up to ${maxNameLength} letters, digits and !#$%&'*+-.^_\`|~`,
      );
}

const maxNameLength = 256;
