import { networkInterfaces } from "node:os";
import type { OwnAddress } from "../ir/own-ports.ts";
import type { ProcessSettings, StandaloneSettings } from "../settings/settings.ts";
import { canonicalIp } from "../values/ip-address.ts";
import { isNodeLocal } from "../values/reachable-ip.ts";

type Bound = Pick<ProcessSettings, "managementBindAddress" | "adminPort" | "healthPort"> &
  Partial<Pick<StandaloneSettings, "adminUi" | "adminUiBindAddress" | "adminUiPort">>;

type Socket = { readonly address: string; readonly port: number };

const isAny = (address: string): boolean => address === "0.0.0.0" || address === "::";

/** The sockets of the process itself. */
function socketsOf(settings: Bound): readonly Socket[] {
  const { managementBindAddress: address, healthPort, adminPort } = settings;
  const { adminUi = false, adminUiBindAddress = address, adminUiPort = 0 } = settings;
  return [
    { address, port: healthPort },
    { address, port: adminPort },
    ...(adminUi ? [{ address: adminUiBindAddress, port: adminUiPort }] : []),
  ].filter(({ port }) => port > 0);
}

/**
 * The management ports of a process that can be reached through loopback or other addresses that never leave the host
 * or its link.
 */
export const localPortsOf = (settings: Bound): readonly number[] =>
  socketsOf(settings).flatMap(({ address, port }) => (isAny(address) || isNodeLocal(address) ? port : []));

/**
 * The management ports at the addresses of this host to which they are bound, sorted. `interfaces` returns the
 * addresses of the system.
 */
export function hostPortsOf(
  settings: Bound,
  interfaces: () => readonly string[] = interfaceAddresses,
): readonly OwnAddress[] {
  const byHost = new Map<string, Set<number>>();
  for (const { address, port } of socketsOf(settings)) {
    for (const host of (isAny(address) ? interfaces() : [address]).flatMap(
      (text) => canonicalIp(text) ?? [],
    )) {
      byHost.set(host, (byHost.get(host) ?? new Set()).add(port));
    }
  }
  return [...byHost]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([host, ports]) => ({ host, ports: [...ports] }));
}

const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
