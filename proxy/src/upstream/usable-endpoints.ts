import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";

/** Gauges of the numbers of usable endpoints of Services (`namespace/name`). */
export type UsableEndpointGauges = {
  /** Sets the number of a Service, which might be unchanged. With several ports it is that of the largest set. */
  set(service: string, count: number): void;
  /** Removes the gauges of Services that no longer exist. */
  retain(isPresent: (service: string) => boolean): void;
};

/** The number of Services of removed sets that are remembered until gauges are read. */
const maxRemovedServices = 1000;

/**
 * Counts endpoints when gauges are read, and only those of Services whose sets have changed since the previous read.
 */
export class UsableEndpoints {
  private readonly gauges: UsableEndpointGauges;
  /** The Services whose number might have changed; undefined for all. */
  private changed: Set<string> | undefined = new Set();
  private hasRemoved = false;

  constructor(gauges: UsableEndpointGauges) {
    this.gauges = gauges;
  }

  /** Records that a set of the Service was added, changed or removed. `sets` is the number of sets of all Services. */
  setChanged(service: string, sets: number): void {
    this.changed?.add(service);
    // If gauges are never read, the Services of removed sets would accumulate.
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

/** Counts the endpoints of a set. An address that appears twice is one endpoint. */
function countEndpoints({ addresses }: EndpointSet): number {
  if (addresses.length <= 1) return addresses.length;
  return new Set(addresses.map(({ host, port }) => `${host} ${port}`)).size;
}
