/**
 * Services with ports of the gateway itself as endpoints. Without this check, users who may write EndpointSlices
 * could reach these ports through such a Service. See docs/security.md, "Ports of the gateway itself".
 */
import { createOwnPortCheck, type OwnPortCheck } from "@svc-gateway/common/ir/own-port-check.ts";
import type { OwnAddress, OwnPorts } from "@svc-gateway/common/ir/own-ports.ts";
import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { canonicalIp } from "@svc-gateway/common/values/ip-address.ts";
import { createLookup, emptyWorld, serviceOfSlice, type World } from "../../world.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { compareText } from "../age.ts";

type EndpointSlice = ObjectOf<"EndpointSlice">;

/**
 * Adds the cluster IPs of such Services to the ports of pods. The result is the same value until it changes.
 * Other addresses of Services are omitted: a tenant can claim any address, and would take it from its owner.
 */
export function createOwnPortFinder(
  localPorts: readonly number[],
): (world: World, pods: OwnPorts) => OwnPorts {
  let last = { world: emptyWorld, pods: undefined as OwnPorts | undefined };
  let check: OwnPortCheck = () => false;
  let leading = new Set<EndpointSlice>();
  let known = "";
  let found: OwnPorts = { addresses: [] };

  const follow = (world: World, pods: OwnPorts): boolean => {
    if (pods !== last.pods) {
      check = createOwnPortCheck(pods, localPorts);
      leading = new Set(world.EndpointSlice.filter((slice) => leads(slice, check)));
      return true;
    }
    const { removed, added } = listChanges(last.world.EndpointSlice, world.EndpointSlice);
    let isOther = false;
    for (const slice of removed) if (leading.delete(slice)) isOther = true;
    for (const slice of added) {
      if (!leads(slice, check)) continue;
      leading.add(slice);
      isOther = true;
    }
    return isOther || (leading.size > 0 && world.Service !== last.world.Service);
  };

  return (world, pods) => {
    const isOther = follow(world, pods);
    const isSamePods = pods === last.pods;
    last = { world, pods };
    if (!isOther) return found;
    const services = clusterAddresses(world, leading, check);
    const text = JSON.stringify(services);
    if (isSamePods && text === known) return found;
    known = text;
    found = services.length === 0 ? pods : { addresses: merge(pods.addresses, services) };
    return found;
  };
}

/** Whether any endpoint of a slice is a port of the gateway itself. */
const leads = (slice: EndpointSlice, check: OwnPortCheck): boolean =>
  slice.addressType !== "FQDN" && portsThatLead(slice, check).length > 0;

/** The names of the ports of a slice at which an endpoint is a port of the gateway itself. */
const portsThatLead = ({ ports, endpoints }: EndpointSlice, check: OwnPortCheck): readonly string[] =>
  unlessBroken(() =>
    (ports ?? []).flatMap(({ name = "", port }) =>
      port !== undefined &&
      endpoints?.some(({ addresses }) => addresses.some((address) => check(address, port))) === true
        ? [name]
        : [],
    ),
  );

/**
 * Treats an object whose content does not match its type as having no endpoints. The code that uses such
 * objects reports them.
 */
function unlessBroken<T>(find: () => readonly T[]): readonly T[] {
  try {
    return find();
  } catch {
    return [];
  }
}

function clusterAddresses(
  world: World,
  slices: Iterable<EndpointSlice>,
  check: OwnPortCheck,
): readonly OwnAddress[] {
  const lookup = createLookup(world);
  const byHost = new Map<string, Set<number>>();
  for (const slice of slices) {
    const service = lookup("Service", slice.metadata.namespace, serviceOfSlice(slice) ?? "");
    if (service === undefined) continue;
    const names = portsThatLead(slice, check);
    const { clusterIP = "", clusterIPs = [clusterIP], ports = [] } = service.spec ?? {};
    const led = unlessBroken(() =>
      ports.flatMap(({ name = "", port }) => (names.includes(name) ? [port] : [])),
    );
    for (const host of unlessBroken(() => clusterIPs.flatMap((ip) => canonicalIp(ip) ?? []))) {
      byHost.set(host, new Set([...(byHost.get(host) ?? []), ...led]));
    }
  }
  return [...byHost]
    .sort(([a], [b]) => compareText(a, b))
    .map(([host, ports]) => ({ host, ports: [...ports].sort((a, b) => a - b), shared: true }));
}

/** Merges by host. Addresses of pods keep their identity. */
function merge(pods: readonly OwnAddress[], services: readonly OwnAddress[]): readonly OwnAddress[] {
  const hosts = new Set(pods.map(({ host }) => host));
  const added = services.filter(({ host }) => !hosts.has(host));
  return [...pods, ...added].sort((a, b) => compareText(a.host, b.host));
}
