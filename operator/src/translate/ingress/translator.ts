/** All Ingresses together: from the objects to host tables, certificates and listeners. */
import { authTls } from "@svc-gateway/common/features/auth-tls.ts";
import { annotationKey } from "@svc-gateway/common/features/definition.ts";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { Listener, ListenerSet } from "@svc-gateway/common/ir/listener.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { World } from "../../world.ts";
import type { KeySetNeed } from "../credentials/remote-key-sets.ts";
import type { EndpointNeed } from "../backends/service-port.ts";
import { listMemo, trackedMemo } from "../memo.ts";
import type { TranslateSettings } from "../settings.ts";
import type { DesiredEvent, Diagnostic } from "../translation.ts";
import { createClassReader, type ClassInfo } from "./classes.ts";
import { planDefaultCertificate, planLastResort } from "./gateway-defaults.ts";
import { createClientCertPortBuilder } from "./client-certs.ts";
import { anyHost } from "./host.ts";
import { buildHostTable, type HostTable } from "./host-table.ts";
import { planIngress, type HostClaim } from "./plan.ts";
import {
  buildTlsHost,
  createTlsPortBuilder,
  planTls,
  type TlsClaim,
  type TlsHostTable,
  type TlsPlan,
} from "./tls.ts";

export type IngressPart = {
  /** The Ingresses that are ours. */
  readonly ingresses: readonly ObjectOf<"Ingress">[];
  readonly listenerSet: ListenerSet;
  readonly hosts: readonly HostTable[];
  /** May name a Service port more than once. */
  readonly needs: readonly EndpointNeed[];
  /** What routes name besides endpoint sets; may hold a key more than once, then with the same value. */
  readonly resources: readonly Resource[];
  /** Key sets that routes name; may hold a name more than once. */
  readonly keySets: readonly KeySetNeed[];
  readonly tls: TlsPort;
  readonly clientCerts: ClientCertPort;
  readonly tlsHosts: readonly TlsHostTable[];
  readonly diagnostics: readonly Diagnostic[];
  readonly events: readonly DesiredEvent[];
};

const noCertificates: TlsPlan = { claims: [], diagnostics: [], events: [] };

/** Remembers what it worked out, under these settings, for every object that stays the same. */
export function createIngressTranslator(
  settings: TranslateSettings,
  listeners: readonly Listener[],
): (world: World) => IngressPart {
  const listenerSet: ListenerSet = { listeners };
  const ports = listenerSet.listeners.map(({ port }) => port);
  const { allowExternalName, ingressHttpsPublicPort: httpsPublicPort } = settings;
  const isWatched = namespaceFilter(settings.watchNamespaces);

  const readClasses = createClassReader(settings);
  const routesOf = trackedMemo((ingress: ObjectOf<"Ingress">, info: ClassInfo, view) =>
    planIngress(ingress, { info, view, allowExternalName, httpsPublicPort }),
  );
  const certificatesOf = trackedMemo((ingress: ObjectOf<"Ingress">, _: undefined, view) =>
    planTls(ingress, view),
  );
  const lastResortOf = trackedMemo(planLastResort);
  const defaultCertificateOf = trackedMemo(planDefaultCertificate);
  const hostTableOf = listMemo((claims: readonly HostClaim[], lastResort: HostClaim["fallback"]) =>
    buildHostTable(claims, { ports, lastResort: lastResort?.route }),
  );
  const tlsHostOf = listMemo((claims: readonly TlsClaim[]) => buildTlsHost(claims));
  const tlsPortOf = createTlsPortBuilder();
  const clientCertPortOf = createClientCertPortBuilder();

  return (world) => {
    const ingresses: ObjectOf<"Ingress">[] = [];
    const claims = new Map<string, HostClaim[]>();
    const tlsClaims = new Map<string, TlsClaim[]>();
    const classes = readClasses(world);
    const lastResort = lastResortOf(settings, undefined, world);
    const defaultCertificate = defaultCertificateOf(settings, undefined, world);
    const needs = [...lastResort.needs];
    const events: DesiredEvent[] = [];
    const resources: Resource[] = [];
    const keySets: KeySetNeed[] = [];
    const diagnostics = [
      ...classes.diagnostics,
      ...lastResort.diagnostics,
      ...defaultCertificate.diagnostics,
    ];
    for (const claim of defaultCertificate.claims) addTo(tlsClaims, claim);

    for (const ingress of world.Ingress) {
      if (!isWatched(ingress.metadata.namespace)) continue;
      const { ours, diagnostics: unserved } = classes.classify(ingress);
      for (const finding of unserved) diagnostics.push(finding);
      if (ours === undefined) continue;
      ingresses.push(ingress);
      const routes = routesOf(ingress, ours, world);
      const certificates = concernsTls(ingress) ? certificatesOf(ingress, undefined, world) : noCertificates;
      for (const claim of routes.claims) addTo(claims, claim);
      for (const claim of certificates.claims) addTo(tlsClaims, claim);
      for (const need of routes.needs) needs.push(need);
      for (const finding of routes.diagnostics) diagnostics.push(finding);
      for (const finding of certificates.diagnostics) diagnostics.push(finding);
      for (const event of routes.events) events.push(event);
      for (const resource of routes.resources) resources.push(resource);
      for (const event of certificates.events) events.push(event);
      for (const need of routes.keySets) keySets.push(need);
    }

    if (lastResort.fallback !== undefined && !claims.has(anyHost.host)) claims.set(anyHost.host, []);
    const hosts = [...claims.values()].map((ofHost) => hostTableOf(ofHost, lastResort.fallback));
    const tlsHosts = [...tlsClaims.values()].map((ofHost) => tlsHostOf(ofHost, undefined));
    for (const table of hosts) {
      for (const finding of table.diagnostics) diagnostics.push(finding);
      for (const event of table.events) events.push(event);
    }
    for (const table of tlsHosts) {
      for (const finding of table.diagnostics) diagnostics.push(finding);
      for (const event of table.events) events.push(event);
    }
    const tls = tlsPortOf(tlsHosts);
    const clientCerts = clientCertPortOf(tlsHosts);
    return {
      ingresses,
      listenerSet,
      hosts,
      needs,
      resources,
      keySets,
      tls,
      clientCerts,
      tlsHosts,
      diagnostics,
      events,
    };
  };
}

/** What serves all Ingresses: a listener without TLS and one with it, of ports that are not 0. */
export function ingressListenersOf(settings: TranslateSettings): readonly Listener[] {
  const { ingressHttpPort, ingressHttpsPort, ingressHttpPublicPort, ingressHttpsPublicPort } = settings;
  const listeners: readonly Listener[] = [
    { port: ingressHttpPort, publicPort: ingressHttpPublicPort, protocol: "http" },
    { port: ingressHttpsPort, publicPort: ingressHttpsPublicPort, protocol: "https" },
  ];
  return listeners.filter(({ port }) => port !== 0).sort((a, b) => a.port - b.port);
}

const authTlsKeys = Object.values(authTls.annotations).map(annotationKey);

const concernsTls = ({ spec, metadata: { annotations = {} } }: ObjectOf<"Ingress">): boolean =>
  spec?.tls !== undefined || authTlsKeys.some((key) => Object.hasOwn(annotations, key));

function namespaceFilter(namespaces: readonly string[]): (namespace: string) => boolean {
  if (namespaces.length === 0) return () => true;
  const watched = new Set(namespaces);
  return (namespace) => watched.has(namespace);
}

function addTo<C extends HostClaim | TlsClaim>(claims: Map<string, C[]>, claim: C): void {
  const ofHost = claims.get(claim.host.host);
  if (ofHost === undefined) claims.set(claim.host.host, [claim]);
  else ofHost.push(claim);
}
