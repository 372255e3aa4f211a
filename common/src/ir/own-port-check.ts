import { isNodeLocal, reachableIps } from "../values/reachable-ip.ts";
import { ownPortsKey } from "./keys.ts";
import type { OwnPorts } from "./own-ports.ts";
import { decodeResource, type Resource } from "./resource.ts";

/** Answers whether a connect to an address, in any of its spellings, would end at a port of the gateway itself. */
export type OwnPortCheck = (ip: string, port: number) => boolean;

/**
 * The check for the addresses of pods, and for the ports of a process that are reached through any address which never
 * leaves its host: a process cannot know what else loopback leads to.
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

/** The own ports that an update brings; undefined when it brings none. */
export function ownPortsIn(resources: readonly Resource[]): OwnPorts | undefined {
  const found = resources.find(({ key }) => key === ownPortsKey);
  const decoded = found && decodeResource(found);
  return decoded?.ok === true && decoded.value?.type === "own-ports" ? decoded.value.value : undefined;
}
