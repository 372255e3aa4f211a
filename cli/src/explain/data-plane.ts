/** Runs the code of the data plane on a snapshot, without opening sockets. */
import { X509Certificate } from "node:crypto";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { decodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { createSnapshot, fullUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import { formatEndpoint } from "@svc-gateway/common/values/endpoint.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { memo } from "@svc-gateway/operator/translate/incremental/memo.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import { createAuthStore } from "@svc-gateway/proxy/auth/auth-store.ts";
import { createProxyState, type ServingState } from "@svc-gateway/proxy/state/proxy-state.ts";
import { createProxyMetrics } from "@svc-gateway/proxy/telemetry/metrics.ts";
import { createCertificateStore } from "@svc-gateway/proxy/tls/certificate-store.ts";
import type { ClientPolicy } from "@svc-gateway/proxy/tls/client-validation.ts";
import { createTerminators, type Terminator, type Terminators } from "@svc-gateway/proxy/tls/terminators.ts";
import { RetryBudget } from "@svc-gateway/proxy/upstream/retry-budget.ts";
import type { Upstream, UpstreamEndpoint } from "@svc-gateway/proxy/upstream/upstream.ts";
import type { UpstreamRegistry } from "@svc-gateway/proxy/upstream/upstream-registry.ts";

/** Compiles the tables with which a proxy would serve. An invalid snapshot is a bug of the translation. */
export const compileServing = memo(({ scopes, routing }: Translation): ServingState => {
  const state = createProxyState({
    // Selects the first backend deterministically; a proxy selects it at random.
    random: () => 0,
    upstreams: upstreamsOf(routing.endpoints),
    auth: createAuthStore(),
    metrics: createProxyMetrics(),
    rates: { counter: () => ({ take: () => 0, giveBack: () => undefined }) },
    concurrency: { enter: () => 0, leave: () => undefined },
    log: silentLogger,
    publish: () => undefined,
  });
  const applied = state.apply(fullUpdate(createSnapshot(scopes.shared)));
  if (!applied.ok) throw new Error(`the snapshot is not valid: ${applied.error.message}`);
  return state.serving;
});

/** The routes of a host in the order of their resource, in which compiled routes have only their position. */
export function routesOfHost({ scopes }: Translation, key: ResourceKey): readonly Route[] {
  const resource = scopes.shared.find((one) => one.key === key);
  const decoded = resource && decodeResource(resource);
  return decoded?.ok === true && decoded.value?.type === "route" ? decoded.value.value.routes : [];
}

/** Creates a registry of endpoints for rehearsals; no connection is made to them. */
function upstreamsOf(sets: Translation["routing"]["endpoints"]): UpstreamRegistry {
  return {
    update: () => undefined,
    *settle() {},
    follow: () => undefined,
    get(name, protocol): Upstream {
      const [namespace = "", service = ""] = name.split("/");
      const named = `${namespace}/${service}`;
      const endpoints = (findEntry(sets, name)?.set.addresses ?? []).map((endpoint): UpstreamEndpoint => {
        const known = { ...endpoint, address: formatEndpoint(endpoint) };
        services.set(known, named);
        return known;
      });
      const [endpoint] = endpoints;
      return {
        key: name,
        service: named,
        protocol,
        endpoints,
        retryBudget: new RetryBudget(0),
        pick: () => endpoint && { endpoint, watch: undefined, setCookie: undefined },
      };
    },
    setSessionKey: () => undefined,
    retainRoutes: () => undefined,
    refreshGauges: () => undefined,
  };
}

const services = new WeakMap<UpstreamEndpoint, string>();

/** The Service (`namespace/name`) of an endpoint of a rehearsal. */
export const serviceOf = (endpoint: UpstreamEndpoint): string => services.get(endpoint) ?? "";

/** The certificates that are offered for a server name, best first. */
export type ExplainedTls = {
  readonly serverName: string;
  readonly bucket: "exact" | "wildcard" | "default";
  /** The name in the manifests that covers the server name. */
  readonly host: string;
  readonly certificates: readonly ExplainedCertificate[];
};

export type ExplainedCertificate = {
  readonly names: readonly string[];
  readonly issuer: string;
  readonly notAfter: string;
  readonly fingerprint256: string;
};

/**
 * Selects the certificates for a client with this server name, and the policy for its own certificate; undefined if its
 * handshake is rejected.
 */
export function explainTls(
  port: TlsPort,
  serverName: string,
  clients?: ClientCertPort,
): { readonly tls: ExplainedTls; readonly policy: ClientPolicy | undefined } | undefined {
  const idsOf = new Map<Terminator, readonly string[]>();
  const terminators = createTerminators(
    { minVersion: "TLSv1.2", handshakeTimeoutMs: 0, maxHandshakes: 0 },
    silentLogger,
    { onSecure: () => undefined, onError: () => undefined },
  );
  const recording: Terminators = {
    ...terminators,
    get(ids, ...settings) {
      const terminator = terminators.get(ids, ...settings);
      if (terminator !== undefined) idsOf.set(terminator, ids);
      return terminator;
    },
  };
  const store = createCertificateStore(port, recording, clients);
  const selected = store.select(serverName);
  if (selected === undefined) return undefined;
  const parent = serverName.slice(serverName.indexOf(".") + 1);
  const isServed = (bucket: string, name: string): boolean =>
    store.names.some((served) => served.bucket === bucket && served.name === name);
  const bucket = isServed("exact", serverName)
    ? "exact"
    : isServed("wildcard", `*.${parent}`)
      ? "wildcard"
      : "default";
  const tls: ExplainedTls = {
    serverName,
    bucket,
    host: { exact: serverName, wildcard: `*.${parent}`, default: "*" }[bucket],
    certificates: (idsOf.get(selected.terminator) ?? []).flatMap((id) => {
      const certificate = port.certificates[id];
      return certificate === undefined ? [] : [describeCertificate(certificate.chainPem)];
    }),
  };
  return { tls, policy: selected.policy };
}

function describeCertificate(chainPem: string): ExplainedCertificate {
  const leaf = new X509Certificate(chainPem);
  const names = leaf.subjectAltName?.split(", ").map((name) => name.replace(/^DNS:/, "")) ?? [leaf.subject];
  return {
    names,
    issuer: leaf.issuer.replaceAll("\n", ", "),
    notAfter: leaf.validToDate.toISOString(),
    fingerprint256: leaf.fingerprint256,
  };
}
