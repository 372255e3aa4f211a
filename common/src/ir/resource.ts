import { hash } from "node:crypto";
import type { z } from "zod";
import { fail, ok, problem, type Problem, type Result } from "../values/result.ts";
import { acceptsOf } from "./accepts.ts";
import {
  backendCertificateSchema,
  backendTlsSchema,
  type BackendCertificate,
  type BackendTls,
} from "./backend-tls.ts";
import { canonicalJson } from "./canonical-json.ts";
import { tlsPortSchema, type TlsPort } from "./certificate.ts";
import { htpasswdSchema, keySetSchema, type Htpasswd, type KeySet } from "./credentials.ts";
import { clientCertPortSchema, type ClientCertPort } from "./client-certificate.ts";
import { endpointSetSchema, type EndpointSet } from "./endpoints.ts";
import { parseKey, type ResourceKey } from "./keys.ts";
import { l4PortSchema, type L4Port } from "./l4.ts";
import { listenerSetSchema, type ListenerSet } from "./listener.ts";
import { ownPortsSchema, type OwnPorts } from "./own-ports.ts";
import { hostRoutesSchema, type HostRoutes } from "./route.ts";
import { sessionKeySchema, type SessionKeyValue } from "./session-key.ts";
import { ticketKeysSchema, type TicketKeys } from "./ticket-keys.ts";

/** The value of a resource by the first part of its key. */
export type ResourceValues = {
  readonly route: HostRoutes;
  readonly tls: TlsPort;
  readonly clientcert: ClientCertPort;
  readonly l4: L4Port;
  readonly "ticket-keys": TicketKeys;
  readonly listener: ListenerSet;
  readonly endpoints: EndpointSet;
  readonly backendtls: BackendTls;
  readonly backendcert: BackendCertificate;
  readonly "session-key": SessionKeyValue;
  readonly "own-ports": OwnPorts;
  readonly htpasswd: Htpasswd;
  readonly jwks: KeySet;
};
export type ResourceType = keyof ResourceValues;

/** The schema of each type of resource. */
export const resourceSchemas: { readonly [K in ResourceType]: z.ZodType<ResourceValues[K]> } = {
  route: hostRoutesSchema,
  tls: tlsPortSchema,
  clientcert: clientCertPortSchema,
  l4: l4PortSchema,
  "ticket-keys": ticketKeysSchema,
  listener: listenerSetSchema,
  endpoints: endpointSetSchema,
  backendtls: backendTlsSchema,
  backendcert: backendCertificateSchema,
  "session-key": sessionKeySchema,
  "own-ports": ownPortsSchema,
  htpasswd: htpasswdSchema,
  jwks: keySetSchema,
};

/**
 * A resource in transit: `body` is canonical JSON (RFC 8785), `hash` the lower-case hex SHA-256 of its UTF-8 bytes.
 * Equal values have equal bodies on every replica.
 */
export type Resource = {
  readonly key: ResourceKey;
  readonly hash: string;
  readonly body: string;
};

const remembered = new WeakMap<object, Map<ResourceKey, Resource>>();

/** Encodes a value. The result is cached by the identity of the (immutable) value, for callers that do not keep it. */
export function encodeResource<K extends ResourceType>(key: ResourceKey, value: ResourceValues[K]): Resource {
  const known = remembered.get(value);
  const hit = known?.get(key);
  if (hit !== undefined) return hit;
  const resource = encodeFresh(key, value);
  if (known === undefined) remembered.set(value, new Map([[key, resource]]));
  else known.set(key, resource);
  return resource;
}

/**
 * Encodes a value like `encodeResource`, for callers that keep the result: for tens of thousands of resources, the
 * cache is most of the cost.
 */
export function encodeFresh<K extends ResourceType>(key: ResourceKey, value: ResourceValues[K]): Resource {
  const body = canonicalJson(value);
  return { key, hash: sha256Hex(body), body };
}

/** A decoded resource with its type, so that a switch over `type` narrows `value`. */
export type Decoded = {
  readonly [K in ResourceType]: {
    readonly type: K;
    readonly key: ResourceKey;
    readonly value: ResourceValues[K];
  };
}[ResourceType];

/**
 * Verifies hash and schema. A key of unknown form yields `undefined` (the resource is of a newer controller and is
 * ignored); unknown fields are dropped.
 */
export function decodeResource(resource: Resource): Result<Decoded | undefined> {
  const parsed = parseKey(resource.key);
  return parsed === undefined ? ok(undefined) : decodeAs(parsed.type, resource);
}

/** Does the same for a resource whose key is of this type. */
export function decodeAs(type: ResourceType, { key, hash: claimed, body }: Resource): Result<Decoded> {
  if (sha256Hex(body) !== claimed) return problem(`resource ${key}: hash does not match its body`);
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return problem(`resource ${key}: body is not JSON`);
  }
  const schema = resourceSchemas[type];
  if (acceptsOf(schema)(json)) return ok({ type, key, value: json } as Decoded);
  const result = schema.safeParse(json);
  if (!result.success) return fail(schemaProblem(key, result.error));
  return ok({ type, key, value: result.data } as Decoded);
}

function schemaProblem(key: string, error: z.ZodError): Problem {
  const [issue] = error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "body" : issue.path.map(String).join(".");
  return { message: `resource ${key}: ${where}: ${issue?.message ?? "does not fit its schema"}` };
}

export const sha256Hex = (text: string): string => hash("sha256", text, "hex");
