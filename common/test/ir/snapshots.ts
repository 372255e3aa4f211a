import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot, type Snapshot } from "@svc-gateway/common/ir/snapshot.ts";

/** An endpoint set whose one address encodes its state, a number below 2^24. */
export const endpointResource = (name: string, state: number): Resource =>
  encodeResource(endpointsKey(`default/${name}/80`), {
    service: `default/${name}`,
    resolve: "static",
    addresses: [{ host: `10.${state >> 16}.${(state >> 8) & 255}.${state & 255}`, port: 80 }],
  });

/** A snapshot of endpoint sets: `{ a: 1 }` is the set `a` in its state 1. */
export const snapshotOf = (states: Readonly<Record<string, number>>): Snapshot =>
  createSnapshot(Object.entries(states).map(([name, state]) => endpointResource(name, state)));
