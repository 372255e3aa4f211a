/** All Ingresses together: from the objects to host tables, certificates and listeners. */
import { isDeepStrictEqual } from "node:util";
import { joinLists } from "@svc-gateway/common/collections/join-lists.ts";
import type { TlsPort } from "@svc-gateway/common/ir/certificate.ts";
import type { ClientCertPort } from "@svc-gateway/common/ir/client-certificate.ts";
import type { Listener, ListenerSet } from "@svc-gateway/common/ir/listener.ts";
import type { World } from "../../world.ts";
import { haveSameItems, trackedMemo } from "../memo.ts";
import type { TranslateSettings } from "../settings.ts";
import { createCertificateTracker, type CertificatesPart } from "./certificates.ts";
import { createClassReader } from "./classes.ts";
import { createClientCertPortBuilder } from "./client-certs.ts";
import { planLastResort, type LastResort } from "./gateway-defaults.ts";
import { createRouteTracker, type RoutesPart } from "./routes.ts";
import { createTlsPortBuilder } from "./tls.ts";

/** All of it in an order that does not depend on what was there before; what stays the same keeps its identity. */
export type IngressPart = RoutesPart &
  CertificatesPart & {
    readonly listenerSet: ListenerSet;
    readonly tls: TlsPort;
    readonly clientCerts: ClientCertPort;
  };

/**
 * Keeps the translation of the Ingresses in line with the world. Of what follows from an Ingress, on a host, or at a
 * Service port, only that is worked out anew whose inputs have changed.
 */
export function createIngressTranslator(
  settings: TranslateSettings,
  listeners: readonly Listener[],
): (world: World) => IngressPart {
  const listenerSet: ListenerSet = { listeners };
  const readClasses = createClassReader(settings);
  const lastResortOf = trackedMemo(planLastResort);
  let lastResort: LastResort["route"];
  let updateRoutes = createRouteTracker(settings, listeners, lastResort);
  const updateCertificates = createCertificateTracker(settings);
  const tlsPortOf = createTlsPortBuilder();
  const clientCertPortOf = createClientCertPortBuilder();
  let last: { readonly inputs: readonly object[]; readonly part: IngressPart } | undefined;

  return (world) => {
    const classes = readClasses(world);
    const { classify } = classes;
    const { route, needs, diagnostics } = lastResortOf(settings, undefined, world);
    if (!isDeepStrictEqual(route, lastResort)) {
      lastResort = route;
      updateRoutes = createRouteTracker(settings, listeners, lastResort);
    }
    const routes = updateRoutes(world, classify);
    const certificates = updateCertificates(world, classify);
    const inputs = [classes, needs, routes, certificates];
    if (last !== undefined && haveSameItems(last.inputs, inputs)) return last.part;
    const part = {
      ...routes,
      ...certificates,
      listenerSet,
      needs: joinLists(needs, routes.needs),
      tls: tlsPortOf(certificates.tlsHosts),
      clientCerts: clientCertPortOf(certificates.tlsHosts),
      diagnostics: joinLists(classes.diagnostics, diagnostics, routes.diagnostics, certificates.diagnostics),
      events: joinLists(routes.events, certificates.events),
    };
    last = { inputs, part };
    return part;
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
