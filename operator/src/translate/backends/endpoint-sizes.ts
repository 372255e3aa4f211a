/**
 * The size of the endpoints of Services in snapshots, and the Services whose endpoints are left out. See
 * docs/routing.md, "Size".
 */
import { nameOf, refOf } from "../../api/object.ts";
import { endpointSlicesOf, type World } from "../../world.ts";
import { ageOf } from "../age.ts";
import { attempt } from "../attempt.ts";
import { describeEndpointsLeftOut, endpointsLeftOut } from "../diagnostics/sizes.ts";
import { notServed } from "../events.ts";
import type { FindingsList } from "../incremental/findings-list.ts";
import type { TranslateSettings } from "../settings.ts";
import { createSizeLedger } from "../size/ledger.ts";
import { sharedScope, type ObjectSize } from "../size/object-size.ts";
import { slicesWithPort } from "./endpoints.ts";
import type { EndpointRef } from "./service-port.ts";

type Settings = Pick<TranslateSettings, "allowExternalName" | "maxServiceEndpointBytes" | "maxEndpointBytes">;

/** Counts the bytes of the endpoints of each Service, at every port that is used. */
export type EndpointSizes = {
  /** Counts a Service (`namespace/name`) again. Without references its size is 0. */
  count(service: string, endpointRefs: Iterable<EndpointRef>, world: World): void;
  /** Returns the endpoints to leave out, once all Services are counted. */
  leftOut(): EndpointsLeftOut;
};

type EndpointsLeftOut = FindingsList & {
  /** The Services (`namespace/name`) whose endpoints are all left out. */
  readonly services: ReadonlySet<string>;
};

/** The approximate size of an endpoint in bytes as it is sent, by the type of its address. */
const endpointBytes: { readonly [addressType: string]: number } = { IPv4: 36, IPv6: 60, FQDN: 280 };

/**
 * Creates the counter. The cost of a count depends only on the slices and used ports of the Services that have
 * changed.
 */
export function createEndpointSizes({
  allowExternalName,
  maxServiceEndpointBytes,
  maxEndpointBytes,
}: Settings): EndpointSizes {
  const ledger = createSizeLedger(maxEndpointBytes);
  const known = new Map<string, ObjectSize>();
  return {
    count(service, endpointRefs, world) {
      const before = known.get(service);
      const after = sizeOf([...endpointRefs], world, allowExternalName, maxServiceEndpointBytes);
      if (after === undefined) known.delete(service);
      else known.set(service, after);
      ledger.edit({ removed: before ? [before] : [], added: after ? [after] : [] });
    },
    leftOut() {
      const omitted = [
        ...ledger
          .tooLarge()
          .map((object) => ({ object, message: describeEndpointsLeftOut(maxServiceEndpointBytes) })),
        ...[...ledger.leftOut().values()].map(({ object, bytes }) => ({
          object,
          message: describeEndpointsLeftOut(maxEndpointBytes, { namespace: object.namespace ?? "", bytes }),
        })),
      ];
      return {
        services: new Set(omitted.map(({ object }) => nameOf(object))),
        diagnostics: omitted.map(({ object, message }) => endpointsLeftOut({ object }, message)),
        events: omitted.map(({ object, message }) => notServed(object, message)),
      };
    },
  };
}

function sizeOf(
  endpointRefs: readonly EndpointRef[],
  world: World,
  allowExternalName: boolean,
  maxBytes: number,
): ObjectSize | undefined {
  const [first] = endpointRefs;
  if (first === undefined) return undefined;
  const { service } = first;
  const bytes = endpointRefs.reduce((sum, ref) => sum + bytesOf(ref, world, allowExternalName), 0);
  if (bytes === 0) return undefined;
  const isTooLarge = bytes > maxBytes;
  return {
    object: refOf(service),
    age: ageOf(service),
    scopes: isTooLarge ? [] : [{ scope: sharedScope, bytes: [bytes, 0, 0] }],
    isTooLarge,
  };
}

/**
 * The upper limit of the size, whichever endpoints are ready: the choice of what is left out must not change
 * with each pod that starts. Only addresses of one type are used at a time.
 */
function bytesOf({ service, port }: EndpointRef, world: World, allowExternalName: boolean): number {
  if (service.spec?.type === "ExternalName") return endpointBytes["FQDN"] ?? 0;
  const slices = endpointSlicesOf(world, service.metadata.namespace, service.metadata.name);
  const count = (): number => {
    const byType = new Map<string, number>();
    for (const { slice } of slicesWithPort(slices, port)) {
      const { addressType, endpoints } = slice;
      if (!Array.isArray(endpoints) || (addressType === "FQDN" && !allowExternalName)) continue;
      const bytes = endpoints.length * (endpointBytes[addressType] ?? 0);
      byType.set(addressType, (byType.get(addressType) ?? 0) + bytes);
    }
    return Math.max(0, ...byType.values());
  };
  // If this throws, resolving the endpoints also throws, and reports the problem.
  return attempt(service, () => ({ bytes: count(), diagnostics: [] }), { bytes: 0 }).bytes;
}
