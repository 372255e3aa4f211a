import { isNodeLocal, reachableIps } from "../values/reachable-ip.ts";
import { ownPortsKey } from "./keys.ts";
import type { OwnPorts } from "./own-ports.ts";
import { decodeResource, type Resource } from "./resource.ts";

/** Reports whether a connection to an address, in any of its spellings, would end at a port of the gateway itself. */
export type OwnPortCheck = (ip: string, port: number) => boolean;

/**
 * Creates the check for the addresses of pods, and for the local ports of this process at every address that never
 * leaves its host. Other destinations behind loopback addresses are not known to the process.
 */
export function createOwnPortCheck(
  { addresses }: OwnPorts,
  localPorts: readonly number[] = [],
): OwnPortCheck {
  const byHost = new Map(addresses.map(({ host, ports }) => [host, new Set(ports)]));
  const local = new Set(localPorts);
  const all = new Set([...local, ...addresses.flatMap(({ ports }) => ports)]);
  return (text, port) =>
    all.has(port) &&
    reachableIps(text).some(
      (ip) => byHost.get(ip)?.has(port) === true || (local.has(port) && isNodeLocal(ip)),
    );
}

/** Whether an address belongs to one pod of the gateway alone, so that every client with this address is that pod. */
export function createOwnPeerCheck({ addresses }: OwnPorts): (ip: string) => boolean {
  const hosts = new Set(addresses.flatMap(({ host, shared }) => (shared === true ? [] : [host])));
  return (text) => reachableIps(text).some((ip) => hosts.has(ip));
}

/** The own ports in an update; undefined if it has none. */
export function ownPortsIn(resources: readonly Resource[]): OwnPorts | undefined {
  const found = resources.find(({ key }) => key === ownPortsKey);
  const decoded = found && decodeResource(found);
  return decoded?.ok === true && decoded.value?.type === "own-ports" ? decoded.value.value : undefined;
}
