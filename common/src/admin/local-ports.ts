import { networkInterfaces } from "node:os";
import type { OwnAddress } from "../ir/own-ports.ts";
import type { ProcessSettings } from "../settings/settings.ts";
import { canonicalIp } from "../values/ip-address.ts";
import { isNodeLocal } from "../values/reachable-ip.ts";

type Bound = Pick<ProcessSettings, "managementBindAddress" | "adminPort" | "healthPort">;

const isAny = (address: string): boolean => address === "0.0.0.0" || address === "::";

const portsOf = ({ adminPort, healthPort }: Bound): readonly number[] =>
  [healthPort, adminPort].filter((port) => port > 0);

/** The admin and health port of a process, as far as loopback and its like may lead to them. */
export const localPortsOf = (settings: Bound): readonly number[] =>
  isAny(settings.managementBindAddress) || isNodeLocal(settings.managementBindAddress)
    ? portsOf(settings)
    : [];

/** The same ports at the addresses of this host that they are bound to, sorted. `interfaces` are those of the system. */
export function hostPortsOf(
  settings: Bound,
  interfaces: () => readonly string[] = interfaceAddresses,
): readonly OwnAddress[] {
  const { managementBindAddress: address } = settings;
  const hosts = (isAny(address) ? interfaces() : [address]).flatMap((text) => canonicalIp(text) ?? []);
  const ports = portsOf(settings);
  return [...new Set(hosts)].sort().map((host) => ({ host, ports }));
}

const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
