/** All Ingresses together: from the objects to host tables, certificates and listeners. */
import { isDeepStrictEqual } from "node:util";
import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { L4Host } from "@svc-gateway/common/ir/l4.ts";
import type { Listener, ListenerSet } from "@svc-gateway/common/ir/listener.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { noEntries } from "@svc-gateway/common/ir/sorted-entries.ts";
import { emptyWorld, type World } from "../../world.ts";
import { compareText } from "../age.ts";
import { haveSameItems, memo, trackedMemo } from "../incremental/memo.ts";
import { createFallback, fallbackOffer } from "../ingress-nginx/fallback-certificate.ts";
import { findTlsForOthers } from "../ingress-nginx/foreign-tls.ts";
import { findPassthrough } from "../ingress-nginx/ssl-passthrough.ts";
import { createFurtherNames } from "../ingress-nginx/further-names.ts";
import { createNginxHosts } from "../ingress-nginx/hosts.ts";
import { noOwners, type HostOwners } from "../ownership.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { ServedHost } from "../routing.ts";
import type { TranslateSettings } from "../settings.ts";
import type { SizeLedger } from "../size/ledger.ts";
import type { LeftOut } from "../size/object-size.ts";
import { createCanaryMerger } from "./canaries.ts";
import { createCertificateTracker, type CertificatesPart } from "./certificates.ts";
import { createClassReader } from "./classes.ts";
import { createClientCertPortBuilder } from "./client-certs.ts";
import { createClientRuleSetter } from "./client-rules.ts";
import { planLastResort, type LastResort } from "./gateway-defaults.ts";
import type { HostTable } from "./host-table.ts";
import { createOwnedHosts, ownersOf } from "./ownership.ts";
import { createRouteTracker, type RoutesPart } from "./routes.ts";
import { createTlsPortBuilder } from "./tls.ts";

/** All of it in an order that does not depend on what was there before; what stays the same keeps its identity. */
export type IngressPart = Omit<RoutesPart, "tables" | "ofHosts" | "canaries"> &
  Omit<CertificatesPart, "ofHosts"> & {
    readonly hosts: readonly ServedHost[];
    /** The hosts as resources. */
    readonly routes: readonly Resource[];
    readonly listenerSet: ListenerSet;
    readonly tls: TlsPort;
    readonly clientCerts: ClientCertPort;
    /** Whether some name is to be shown the fallback certificate. */
    readonly needsFallbackCertificate: boolean;
    /** The server names of the HTTPS port whose TLS is passed on without being terminated. */
    readonly passthrough: readonly L4Host[];
  };

/** The Ingresses before it is known which hosts belong to routes of Gateways. */
export type UnfinishedIngresses = {
  /** The oldest Ingresses that name hosts. */
  readonly owners: HostOwners;
  readonly finish: (routeOwners: HostOwners) => IngressPart;
};

/**
 * Translates the Ingresses in two steps: the first plans them and reports their sizes to the ledger, the second
 * builds what was not left out. Per Ingress, host and Service port, only results whose inputs have changed are
 * computed again.
 */
export function createIngressTranslator(
  settings: TranslateSettings,
  listeners: readonly Listener[],
  ledger: SizeLedger,
): (
  world: World,
  givenFallback: ObjectOf<"Secret"> | undefined,
) => (leftOut: LeftOut) => UnfinishedIngresses {
  const listenerSet: ListenerSet = { listeners };
  const readClasses = createClassReader(settings);
  const lastResortOf = trackedMemo(planLastResort);
  let lastResort: LastResort["route"];
  let updateRoutes = createRouteTracker(settings, listeners, lastResort, ledger);
  const updateCertificates = createCertificateTracker(settings);
  const ports = listeners.map(({ port }) => port);
  const setClientRules = createClientRuleSetter(ports);
  const mergeCanaries = createCanaryMerger(ports);
  const finishNginxHosts = createNginxHosts(ports);
  const addFurtherNames = createFurtherNames(ports);
  const addFallback = createFallback(settings.ingressNginx.fallbackCertificate);
  const hostsOf = memo((all: readonly HostTable[]) => all.map(({ served }) => served));
  // In the order of their keys, in which ports are text.
  const byText = [...ports.keys()].sort((a, b) => compareText(String(ports[a]), String(ports[b])));
  const resourcesOf = memo((all: readonly HostTable[]) =>
    byText.flatMap((port) => all.map(({ resources }) => resources[port] as Resource)),
  );
  const leaveToOwners = createOwnedHosts();
  const ownersFrom = memo(ownersOf);
  const tlsPortOf = createTlsPortBuilder();
  const clientCertPortOf = createClientCertPortBuilder();
  let last: { readonly inputs: readonly object[]; readonly part: IngressPart } | undefined;

  return (world, givenFallback) => {
    const classes = readClasses(world);
    const { classify } = classes;
    const { route, endpointRefs, diagnostics } = lastResortOf(settings, undefined, world);
    if (!isDeepStrictEqual(route, lastResort)) {
      lastResort = route;
      // Removes the sizes of the old one from the ledger.
      updateRoutes(emptyWorld, classify);
      updateRoutes = createRouteTracker(settings, listeners, lastResort, ledger);
    }
    const finishRoutes = updateRoutes(world, classify);
    const certificates = updateCertificates(world, classify);
    return (leftOut) => {
      const { tables, ofHosts, canaries, ...routes } = finishRoutes(leftOut);
      const { ofHosts: ofTlsHosts, tlsHosts, ...ofCertificates } = certificates;
      const finish = (routeOwners: HostOwners): IngressPart => {
        const fallback = fallbackOffer(world, settings.installNamespace, givenFallback);
        const inputs = [
          fallback ?? noFallback,
          classes,
          endpointRefs,
          tables,
          canaries,
          certificates,
          ofHosts,
          ...Object.values(routes),
        ];
        const isOwned = settings.hostOwnership === "namespace";
        // Who owns hosts may have changed beside Ingresses.
        if (!isOwned && last !== undefined && haveSameItems(last.inputs, inputs)) return last.part;
        const owned = isOwned
          ? leaveToOwners(tables, tlsHosts, routeOwners, { ports, lastResort })
          : { tables, conflicts: routes.conflicts, ofHosts, tlsHosts, ofTlsHosts };
        const merged = mergeCanaries(owned.tables, canaries);
        const finished = finishNginxHosts(merged.tables, owned.tlsHosts);
        const named = addFurtherNames(setClientRules(finished, owned.tlsHosts), owned.tlsHosts);
        const { tables: served } = named;
        const passthrough = findPassthrough(served);
        const { tlsHosts: names, isWanted } = addFallback(named.tlsHosts, fallback);
        const part = {
          hosts: hostsOf(served),
          routes: resourcesOf(served),
          ...routes,
          ...ofCertificates,
          conflicts: owned.conflicts,
          tlsHosts: names,
          needsFallbackCertificate: isWanted,
          passthrough: passthrough.hosts,
          listenerSet,
          endpointRefs: joinLists(endpointRefs, routes.endpointRefs, merged.endpointRefs),
          tls: tlsPortOf(names.values),
          clientCerts: clientCertPortOf(names.values),
          diagnostics: joinLists(
            classes.diagnostics,
            diagnostics,
            routes.diagnostics,
            owned.ofHosts.diagnostics,
            merged.diagnostics,
            certificates.diagnostics,
            owned.ofTlsHosts.diagnostics,
            named.diagnostics,
            passthrough.diagnostics,
            findTlsForOthers(merged.tables, owned.tlsHosts),
          ),
          events: joinLists(
            routes.events,
            owned.ofHosts.events,
            certificates.events,
            owned.ofTlsHosts.events,
          ),
        };
        last = { inputs, part };
        return part;
      };
      return { owners: settings.hostOwnership === "namespace" ? ownersFrom(tables) : noOwners, finish };
    };
  };
}

const noFallback = {};

/** The listeners of all Ingresses: one without TLS and one with it, of ports that are not 0. */
export function ingressListenersOf(settings: TranslateSettings): readonly Listener[] {
  const { ingressHttpPort, ingressHttpsPort, ingressHttpPublicPort, ingressHttpsPublicPort } = settings;
  const listeners: readonly Listener[] = [
    { port: ingressHttpPort, publicPort: ingressHttpPublicPort, protocol: "http" },
    { port: ingressHttpsPort, publicPort: ingressHttpsPublicPort, protocol: "https" },
  ];
  return listeners.filter(({ port }) => port !== 0).sort((a, b) => a.port - b.port);
}

/** The part of Ingresses when they are not served. */
export const noIngresses: IngressPart = {
  ingresses: [],
  statusIngresses: [],
  listenerSet: { listeners: [] },
  hosts: [],
  conflicts: [],
  routes: [],
  endpointRefs: [],
  resources: [],
  keySets: [],
  nginxReports: [],
  tls: { certificates: {}, hosts: [] },
  clientCerts: { authorities: {}, hosts: [] },
  tlsHosts: noEntries,
  needsFallbackCertificate: false,
  passthrough: [],
  diagnostics: [],
  events: [],
};
