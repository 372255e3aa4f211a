/** Translates all Ingresses into host tables, certificates and listeners. */
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

/** The complete result, in an order that does not depend on earlier Worlds. Unchanged values keep their identity. */
export type IngressPart = Omit<RoutesPart, "tables" | "ofHosts" | "canaries"> &
  Omit<CertificatesPart, "ofHosts"> & {
    readonly hosts: readonly ServedHost[];
    /** The hosts as resources. */
    readonly routes: readonly Resource[];
    readonly listenerSet: ListenerSet;
    readonly tls: TlsPort;
    readonly clientCerts: ClientCertPort;
    /** Whether the fallback certificate must be presented for any server name. */
    readonly needsFallbackCertificate: boolean;
    /** The server names of the HTTPS port whose TLS is passed through instead of being terminated. */
    readonly passthrough: readonly L4Host[];
  };

/** The Ingresses, before the hosts that belong to routes of Gateways are known. */
export type UnfinishedIngresses = {
  /** The oldest Ingress that names each host. */
  readonly owners: HostOwners;
  readonly finish: (routeOwners: HostOwners) => IngressPart;
};

/**
 * Translates the Ingresses in two steps. The first plans them and reports their sizes to the ledger; the second
 * builds everything that is not left out. For each Ingress, host and Service port, a result is computed again
 * only if its inputs have changed.
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
  // Indexes of ports in the order of resource keys, in which ports are text.
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
      // Removes the sizes of the previous tracker from the ledger.
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
        // The owners of hosts can change without any change to Ingresses.
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

/** The listeners of all Ingresses: one without TLS and one with TLS. A port of 0 disables a listener. */
export function ingressListenersOf(settings: TranslateSettings): readonly Listener[] {
  const { ingressHttpPort, ingressHttpsPort, ingressHttpPublicPort, ingressHttpsPublicPort } = settings;
  const listeners: readonly Listener[] = [
    { port: ingressHttpPort, publicPort: ingressHttpPublicPort, protocol: "http" },
    { port: ingressHttpsPort, publicPort: ingressHttpsPublicPort, protocol: "https" },
  ];
  return listeners.filter(({ port }) => port !== 0).sort((a, b) => a.port - b.port);
}

/** The empty result, for when Ingresses are not served. */
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
