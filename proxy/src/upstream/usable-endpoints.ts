import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";

/** Gauges of the numbers of usable endpoints of Services (`namespace/name`). */
export type UsableEndpointGauges = {
  /** The number may have changed. With several ports it is that of the largest set. */
  set(service: string, count: number): void;
  /** Services were removed: forgets all but the present ones. */
  retain(isPresent: (service: string) => boolean): void;
};

/** Services of removed sets that are remembered until gauges are read. */
const maxRemovedServices = 1000;

/** Counts endpoints when gauges are read, and then only of Services whose sets have changed since. */
export class UsableEndpoints {
  private readonly gauges: UsableEndpointGauges;
  /** Services whose number may have changed; undefined: all. */
  private changed: Set<string> | undefined = new Set();
  private hasRemoved = false;

  constructor(gauges: UsableEndpointGauges) {
    this.gauges = gauges;
  }

  /** A set of the Service was added, changed or removed; `sets`: how many there are of all Services. */
  setChanged(service: string, sets: number): void {
    this.changed?.add(service);
    // Without readers of the gauges the Services of removed sets would add up.
    if (this.changed !== undefined && this.changed.size > sets + maxRemovedServices) this.changed = undefined;
  }

  setRemoved(service: string, sets: number): void {
    this.setChanged(service, sets);
    this.hasRemoved = true;
  }

  /** Brings the gauges up to date with the present sets. */
  refresh(sets: Iterable<EndpointSet>): void {
    if (this.changed?.size === 0 && !this.hasRemoved) return;
    const counts = new Map<string, number>();
    const present = new Set<string>();
    for (const set of sets) {
      const { service } = set;
      present.add(service);
      if (this.changed?.has(service) ?? true) {
        counts.set(service, Math.max(counts.get(service) ?? 0, countEndpoints(set)));
      }
    }
    if (this.hasRemoved) this.gauges.retain((service) => present.has(service));
    for (const [service, count] of counts) this.gauges.set(service, count);
    this.hasRemoved = false;
    this.changed = new Set();
  }
}

/** An address that a set has twice is one endpoint. */
function countEndpoints({ addresses }: EndpointSet): number {
  if (addresses.length <= 1) return addresses.length;
  return new Set(addresses.map(({ host, port }) => `${host} ${port}`)).size;
}
