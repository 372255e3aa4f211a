/** The ports of one process, and the detection of flags that assign one port to two servers. */
import type { PortMapping } from "./flag-types.ts";

/** The settings from which the ports of the process itself follow. */
type OwnPortSettings = {
  readonly managementBindAddress?: string;
  readonly adminPort?: number;
  readonly healthPort?: number;
  readonly adminUi?: boolean;
  readonly adminUiBindAddress?: string;
  readonly adminUiPort?: number;
  /** The address to which listeners are bound; undefined for every address. */
  readonly proxyBindAddress?: string | undefined;
};

/** The ports of one command line; a role without listeners has no `portMap`. */
export type PortSettings = OwnPortSettings & {
  readonly ingressHttpPort?: number;
  readonly ingressHttpsPort?: number;
  readonly portMap?: readonly PortMapping[];
  readonly disableIngress?: boolean;
};

/** A port of the process itself, and the flag that sets it. */
export type OwnPort = { readonly port: number; readonly flag: string };

/**
 * Describes flags that assign one port to two servers; undefined if there are none. Both Ingress ports on one local
 * port would share its socket, and connections would reach either of them at random. On a port of the process itself,
 * they cannot be bound.
 */
export function portConflict(settings: PortSettings): string | undefined {
  const { adminPort, healthPort, adminUi, adminUiPort, ingressHttpPort, ingressHttpsPort } = settings;
  if (adminPort !== undefined && adminPort !== 0 && adminPort === healthPort)
    return `--health-port: expected another port than --admin-port, got "${healthPort}"`;
  if (adminUi === true && adminUiPort !== 0 && [adminPort, healthPort].includes(adminUiPort ?? 0))
    return `--admin-ui-port: expected another port than --admin-port and --health-port, got "${adminUiPort}"`;
  if (ingressHttpPort !== undefined && ingressHttpPort !== 0 && ingressHttpPort === ingressHttpsPort)
    return `--ingress-https-port: expected another port than --ingress-http-port, got "${ingressHttpsPort}"`;
  return settings.portMap === undefined || settings.disableIngress === true
    ? undefined
    : localConflict(settings.portMap, settings);
}

/** Describes a conflict of the local ports of Ingresses. */
function localConflict(map: readonly PortMapping[], settings: PortSettings): string | undefined {
  const { ingressHttpPort = 0, ingressHttpsPort = 0 } = settings;
  const http = localPortOf(map, ingressHttpPort);
  const https = localPortOf(map, ingressHttpsPort);
  if (ingressHttpPort !== 0 && http !== 0 && http === https)
    return `--port-map: expected different local ports for --ingress-http-port ${ingressHttpPort} and --ingress-https-port ${ingressHttpsPort}, got "${http}" for both`;
  const listeners = [
    { flag: `--ingress-http-port ${ingressHttpPort}`, isServed: ingressHttpPort !== 0, local: http },
    { flag: `--ingress-https-port ${ingressHttpsPort}`, isServed: ingressHttpsPort !== 0, local: https },
  ].filter(({ isServed }) => isServed);
  for (const { port, flag } of ownPorts(settings)) {
    const taker = listeners.find(({ local }) => local === port);
    if (taker !== undefined)
      return `${flag}: expected another port than the local port of ${taker.flag} (see --port-map), got "${port}"`;
  }
  return undefined;
}

/** The local port of a listener port; 0 means a free one. */
export const localPortOf = (map: readonly PortMapping[], port: number): number =>
  map.find(({ listenerPort }) => listenerPort === port)?.localPort ?? port;

/** The ports of the process itself on addresses that listeners also use. */
export function ownPorts(settings: OwnPortSettings): readonly OwnPort[] {
  const { proxyBindAddress: of, managementBindAddress: own, adminPort = 0, healthPort = 0 } = settings;
  const { adminUi = false, adminUiBindAddress, adminUiPort = 0 } = settings;
  return [
    { address: own, port: adminPort, flag: "--admin-port" },
    { address: own, port: healthPort, flag: "--health-port" },
    ...(adminUi ? [{ address: adminUiBindAddress, port: adminUiPort, flag: "--admin-ui-port" }] : []),
  ].flatMap(({ address, port, flag }) =>
    port !== 0 && (isEverywhere(of) || isEverywhere(address) || of === address) ? [{ port, flag }] : [],
  );
}

const isEverywhere = (address: string | undefined): boolean =>
  address === undefined || address === "::" || address === "0.0.0.0";
