import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import { isNamespaceName, isObjectName } from "@svc-gateway/common/values/namespaced-name.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { ClientMessage, type Scope } from "@svc-gateway/proto/generated/discovery.js";
import type { ReportedCheck } from "./fleet.ts";

/** A validated message of a proxy; `unknown` is a message of a newer proxy and is ignored. */
export type ProxyMessage =
  | {
      readonly kind: "subscribe";
      readonly wireVersion: number;
      readonly nodeId: string;
      readonly scope: ScopeText;
      /** Whether the proxy accepts updates in parts. */
      readonly takesParts: boolean;
      /** The fields of resources that the proxy reads; empty if it does not report them. */
      readonly knownFields: readonly string[];
    }
  | { readonly kind: "ack"; readonly nonce: Uint8Array }
  | { readonly kind: "nack"; readonly nonce: Uint8Array; readonly version: string; readonly detail: string }
  | { readonly kind: "node_status"; readonly boundPorts: readonly number[] }
  | { readonly kind: "health_report"; readonly release: string; readonly checks: readonly ReportedCheck[] }
  | { readonly kind: "ping" }
  | { readonly kind: "unknown" };

/** The scope as received; undefined if the message has none. */
type ScopeText = Scope | undefined;

const maxChecks = 64;
const maxTextLength = 256;
const maxDetailLength = 1024;
const maxPort = 65_535;

/** Reads a message and truncates texts that only go into logs and reports. */
export function readProxyMessage(bytes: Uint8Array): Result<ProxyMessage> {
  let message: ClientMessage;
  try {
    message = ClientMessage.deserialize(bytes);
  } catch {
    return problem("the message is not a ClientMessage");
  }
  switch (message.message) {
    case "subscribe": {
      const { node_id, wire_version, has_scope, scope, takes_parts, known_fields } = message.subscribe;
      return ok({
        kind: "subscribe",
        wireVersion: wire_version,
        nodeId: node_id,
        scope: has_scope ? scope : undefined,
        takesParts: takes_parts,
        knownFields: known_fields,
      });
    }
    case "ack":
      return ok({ kind: "ack", nonce: message.ack.nonce });
    case "nack": {
      const { nonce, version, detail } = message.nack;
      const cut = { version: cutTo(version, maxTextLength), detail: cutTo(detail, maxDetailLength) };
      return ok({ kind: "nack", nonce, ...cut });
    }
    case "node_status":
      return readPorts(message.node_status.bound_ports);
    case "health_report": {
      const { version, checks } = message.health_report;
      return ok({
        kind: "health_report",
        release: cutTo(version, maxTextLength),
        checks: checks.slice(0, maxChecks).map(({ subsystem, name, state, reason }) => ({
          subsystem: cutTo(subsystem, maxTextLength),
          name: cutTo(name, maxTextLength),
          state: cutTo(state, maxTextLength),
          reason: cutTo(reason, maxTextLength),
        })),
      });
    }
    case "ping":
      return ok({ kind: "ping" });
    case "none":
      return ok({ kind: "unknown" });
  }
}

/** Reads the scope of a subscription; undefined if it is absent or names a Gateway that cannot exist. */
export function readScope(scope: Scope | undefined): ProxyScope | undefined {
  switch (scope?.scope) {
    case "shared_pool":
      return { kind: "shared" };
    case "gateway": {
      const { namespace, name } = scope.gateway;
      return isNamespaceName(namespace) && isObjectName(name)
        ? { kind: "dedicated", gateway: { namespace, name } }
        : undefined;
    }
    default:
      return undefined;
  }
}

function readPorts(ports: readonly number[]): Result<ProxyMessage> {
  if (ports.length > maxPort || ports.some((port) => port < 1 || port > maxPort)) {
    return problem("bound_ports must be at most 65535 ports from 1 to 65535");
  }
  return ok({ kind: "node_status", boundPorts: [...new Set(ports)].sort((a, b) => a - b) });
}

const cutTo = (text: string, maxLength: number): string =>
  text.length > maxLength ? text.slice(0, maxLength) : text;
