/**
 * The size of the certificates of Gateways and listeners, and of client authorities, in the snapshots of their
 * scopes. See docs/routing.md, "Size".
 */
import type { ObjectOf } from "../../../api/kinds.ts";
import { nameOf, refOf } from "../../../api/object.ts";
import { ageOf } from "../../age.ts";
import type { SizeLedger } from "../../size/ledger.ts";
import { sharedScope, sizeKey, type LeftOut, type ObjectSize } from "../../size/object-size.ts";
import { maxRoutesBytes } from "../../size/route-size.ts";
import type { ListenerGroup, PlannedGateway } from "../listeners/gateways.ts";
import type { PlacedGateway } from "./placement.ts";

/**
 * Reports to the ledger the size of the certificates of each Gateway and ListenerSet: each certificate counts once
 * for every port that offers it. If those of one object exceed the limit of an object, none of them is offered.
 */
export function createCertificateSizes(ledger: SizeLedger): (gateways: readonly PlacedGateway[]) => void {
  let known = new Map<PlacedGateway, readonly ObjectSize[]>();
  return (gateways) => {
    const next: typeof known = new Map();
    const added: ObjectSize[] = [];
    for (const gateway of gateways) {
      const sizes = known.get(gateway) ?? sizesOf(gateway);
      if (!known.has(gateway)) added.push(...sizes);
      next.set(gateway, sizes);
    }
    const removed = [...known].flatMap(([gateway, sizes]) => (next.has(gateway) ? [] : sizes));
    known = next;
    if (removed.length + added.length > 0) ledger.edit({ removed, added });
  };
}

/** The objects whose certificates are not used, because they are left out or too large. */
export type WithoutCertificates = {
  /** The ids of listeners that offer no certificate. */
  readonly listeners: ReadonlySet<string>;
  /** Gateways that present no certificate to backends. */
  readonly gateways: ReadonlySet<ObjectOf<"Gateway">>;
};

export function withoutCertificates(
  gateways: readonly PlannedGateway[],
  leftOut: LeftOut,
): WithoutCertificates {
  const ids = new Set<string>();
  const own = new Set<ObjectOf<"Gateway">>();
  for (const gateway of gateways) {
    for (const group of groupsOf(gateway)) {
      if (!leftOut.has(sizeKey(refOf(group.owner))) && bytesOf(group, gateway) <= maxRoutesBytes) continue;
      for (const { id } of group.listeners) ids.add(id);
      if (group === gateway.own) own.add(gateway.gateway);
    }
  }
  return { listeners: ids, gateways: own };
}

const groupsOf = ({ own, sets }: PlannedGateway): readonly ListenerGroup[] => [own, ...sets];

function sizesOf(placed: PlacedGateway): readonly ObjectSize[] {
  const { inShared, inDedicated } = placed.placement;
  const scopes = [
    ...(inShared ? [sharedScope] : []),
    ...(inDedicated ? [nameOf(refOf(placed.gateway))] : []),
  ];
  return groupsOf(placed).flatMap((group): ObjectSize | readonly [] => {
    const bytes = bytesOf(group, placed);
    if (bytes === 0) return [];
    const isTooLarge = bytes > maxRoutesBytes;
    const taken = isTooLarge ? 0 : bytes;
    return {
      object: refOf(group.owner),
      age: ageOf(group.owner),
      scopes: scopes.map((scope) => ({ scope, bytes: [taken, 0, 0] as const })),
      isTooLarge,
    };
  });
}

/**
 * The size of the certificates that the listeners of each port offer and of the authorities for client certificates,
 * each counted once per port. The certificate that a Gateway presents to backends counts with its own listeners.
 */
function bytesOf(group: ListenerGroup, { own, backendCertificate }: PlannedGateway): number {
  const counted = new Set<string>();
  let bytes = group === own ? (backendCertificate?.bytes ?? 0) : 0;
  const count = (key: string, length: number): void => {
    if (counted.has(key)) return;
    counted.add(key);
    bytes += length;
  };
  for (const { port, certificates, validation } of group.listeners) {
    for (const { id, value } of certificates) {
      count(`${port} ${id}`, value.chainPem.length + value.keyPem.length);
    }
    const { authorities } = validation ?? {};
    if (authorities !== undefined) count(`${port} ${authorities}`, authorities.length);
  }
  return bytes;
}
