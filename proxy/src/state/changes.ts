import type { BackendCertificate, BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { Htpasswd, KeySet } from "@svc-gateway/common/ir/credentials.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { ListenerSet } from "@svc-gateway/common/ir/listener.ts";
import { noOwnPorts, type OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import { readTicketKeys, type TicketKeyRing } from "../tls/ticket-keys.ts";
import type { L4Update } from "./l4-tables.ts";
import type { HostUpdate } from "./routing-tables.ts";
import { forEachInSteps, type Steps } from "../timing/steps.ts";
import type { Change } from "./staged-update.ts";

/** The changes of an update by kind of resource and by name; an undefined value means that the resource was removed. */
export type SortedChanges = {
  readonly hosts: readonly HostUpdate[];
  readonly endpoints: ReadonlyMap<string, EndpointSet | undefined>;
  readonly backendTls: ReadonlyMap<string, BackendTls | undefined>;
  readonly backendCertificates: ReadonlyMap<string, BackendCertificate | undefined>;
  readonly listeners: ReadonlyMap<string, ListenerSet | undefined>;
  readonly tls: ReadonlyMap<number, TlsPort | undefined>;
  /** The new session key; undefined if it does not change. */
  readonly sessionKey: { readonly key: Buffer | undefined } | undefined;
  /** The new ports of the gateway itself; undefined if they do not change. */
  readonly ownPorts: OwnPorts | undefined;
  readonly htpasswd: ReadonlyMap<string, Htpasswd | undefined>;
  readonly clientCerts: ReadonlyMap<number, ClientCertPort | undefined>;
  readonly ticketKeys: TicketKeyRing | undefined;
  readonly jwks: ReadonlyMap<string, KeySet | undefined>;
  readonly l4: readonly L4Update[];
};

export function* sortChanges(changes: readonly Change[]): Steps<SortedChanges> {
  const hosts: HostUpdate[] = [];
  const endpoints = new Map<string, EndpointSet | undefined>();
  const backendTls = new Map<string, BackendTls | undefined>();
  const backendCertificates = new Map<string, BackendCertificate | undefined>();
  const listeners = new Map<string, ListenerSet | undefined>();
  const tls = new Map<number, TlsPort | undefined>();
  let sessionKey: SortedChanges["sessionKey"];
  let ownPorts: OwnPorts | undefined;
  const htpasswd = new Map<string, Htpasswd | undefined>();
  const clientCerts = new Map<number, ClientCertPort | undefined>();
  let ticketKeys: TicketKeyRing | undefined;
  const jwks = new Map<string, KeySet | undefined>();
  const l4: L4Update[] = [];
  yield* forEachInSteps(changes, ({ key, parsed, decoded }) => {
    switch (parsed?.type) {
      case "route": {
        const { group, port, host } = parsed;
        hosts.push({
          key,
          owner: { group, port, host },
          routes: decoded?.type === "route" ? decoded.value : undefined,
        });
        break;
      }
      case "endpoints":
        endpoints.set(parsed.name, decoded?.type === "endpoints" ? decoded.value : undefined);
        break;
      case "backendtls":
        backendTls.set(parsed.name, decoded?.type === "backendtls" ? decoded.value : undefined);
        break;
      case "backendcert":
        backendCertificates.set(parsed.name, decoded?.type === "backendcert" ? decoded.value : undefined);
        break;
      case "listener":
        listeners.set(parsed.owner, decoded?.type === "listener" ? decoded.value : undefined);
        break;
      case "tls":
        tls.set(parsed.port, decoded?.type === "tls" ? decoded.value : undefined);
        break;
      case "htpasswd":
        htpasswd.set(parsed.name, decoded?.type === "htpasswd" ? decoded.value : undefined);
        break;
      case "clientcert":
        clientCerts.set(parsed.port, decoded?.type === "clientcert" ? decoded.value : undefined);
        break;
      case "ticket-keys":
        if (decoded?.type === "ticket-keys") ticketKeys = readTicketKeys(decoded.value);
        break;
      case "jwks":
        jwks.set(parsed.name, decoded?.type === "jwks" ? decoded.value : undefined);
        break;
      case "session-key":
        sessionKey = {
          key: decoded?.type === "session-key" ? Buffer.from(decoded.value.key, "base64") : undefined,
        };
        break;
      case "own-ports":
        ownPorts = decoded?.type === "own-ports" ? decoded.value : noOwnPorts;
        break;
      case "l4": {
        const { protocol, port } = parsed;
        l4.push({ protocol, port, value: decoded?.type === "l4" ? decoded.value : undefined });
        break;
      }
      case undefined:
        break;
    }
  });
  return {
    hosts,
    endpoints,
    backendTls,
    backendCertificates,
    listeners,
    tls,
    sessionKey,
    ownPorts,
    htpasswd,
    jwks,
    clientCerts,
    ticketKeys,
    l4,
  };
}

/** Checks that each server name refers to an existing certificate; returns a description of the problem, if any. */
export function checkCertificates(ports: ReadonlyMap<number, TlsPort | undefined>): string | undefined {
  for (const [port, tls] of ports) {
    for (const { host, certificates } of tls?.hosts ?? []) {
      const missing = certificates.find((id) => tls === undefined || !Object.hasOwn(tls.certificates, id));
      if (missing !== undefined)
        return `resource tls|${port}: ${host} references certificate ${missing}, which is not in the resource`;
    }
  }
  return undefined;
}
