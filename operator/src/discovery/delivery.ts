import { randomBytes } from "node:crypto";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import type { Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import type { ScopeSnapshot } from "./snapshot-cache.ts";
import type { PreparedUpdate } from "./prepared-update.ts";

/** An update with the nonce by which it is acknowledged. */
export type OutgoingUpdate = { readonly update: PreparedUpdate; readonly nonce: Uint8Array };

/** Brings one proxy to the present snapshot of its scope. */
export type Delivery = {
  /** Sends the next update, unless one is in flight or the proxy has the present version. */
  advance(): void;
  /** Records that the proxy has applied the update with this nonce. Returns false if no such update is in flight. */
  acknowledge(nonce: Uint8Array): boolean;
  /**
   * Records that the proxy has rejected the update with this nonce and kept its state; a full update follows. Returns
   * false if no such update is in flight.
   */
  refuse(nonce: Uint8Array): boolean;
  /** The snapshot that the proxy last acknowledged on this stream. */
  acknowledged(): Snapshot | undefined;
  close(): void;
};

export type DeliveryOptions = {
  readonly current: () => ScopeSnapshot | undefined;
  readonly send: (update: OutgoingUpdate) => void;
  readonly clock: Clock;
};

/** The number of consecutive refusals after which the cause is assumed to be permanent. */
const patientRefusals = 3;
const slowFullIntervalMs = 30_000;

/**
 * The sending side of a stream. The first update is full, and later ones are deltas from the acknowledged snapshot.
 * Only one update is in flight at a time, and changes meanwhile are combined into one update. A refusal is followed by
 * a full update, after `patientRefusals` consecutive ones at most every `slowFullIntervalMs`. See docs/discovery.md,
 * "Snapshots".
 */
export function createDelivery({ current, send, clock }: DeliveryOptions): Delivery {
  let base: Snapshot | undefined;
  let inFlight: { readonly nonce: Uint8Array; readonly snapshot: Snapshot } | undefined;
  let refusals = 0;
  let lastFullMs = Number.NEGATIVE_INFINITY;
  let cancelTimer = (): void => {};
  let isClosed = false;

  const advance = (): void => {
    const target = current();
    if (isClosed || inFlight !== undefined || target === undefined) return;
    const needsFull = base === undefined || refusals > 0;
    if (!needsFull && base?.version === target.snapshot.version) return;
    const nowMs = clock.nowMs();
    if (refusals >= patientRefusals && nowMs < lastFullMs + slowFullIntervalMs) {
      cancelTimer();
      cancelTimer = clock.schedule(lastFullMs + slowFullIntervalMs - nowMs, advance);
      return;
    }
    if (needsFull) lastFullMs = nowMs;
    const nonce = new Uint8Array(randomBytes(12));
    inFlight = { nonce, snapshot: target.snapshot };
    send({ update: target.updateFrom(needsFull ? undefined : base), nonce });
  };

  const settle = (nonce: Uint8Array): Snapshot | undefined => {
    if (inFlight === undefined || Buffer.compare(inFlight.nonce, nonce) !== 0) return undefined;
    const { snapshot } = inFlight;
    inFlight = undefined;
    return snapshot;
  };

  return {
    advance,
    acknowledge(nonce) {
      const snapshot = settle(nonce);
      if (snapshot === undefined) return false;
      base = snapshot;
      refusals = 0;
      return true;
    },
    refuse(nonce) {
      if (settle(nonce) === undefined) return false;
      refusals += 1;
      return true;
    },
    acknowledged: () => base,
    close() {
      isClosed = true;
      cancelTimer();
    },
  };
}
