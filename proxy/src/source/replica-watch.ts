import { isIP } from "node:net";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import type { LookupHost } from "./addresses.ts";

/** Looks out for replicas that appear while the proxy waits before it tries again. */
export type ReplicaWatch = {
  /** The lookup to resolve with: waits compare with what it gave last. */
  readonly lookup: LookupHost;
  /**
   * Schedules as a clock does, but calls back before the end of the delay once the name has an address that the last
   * lookup did not give.
   */
  readonly schedule: Clock["schedule"];
};

export type ReplicaWatchOptions = {
  readonly host: string;
  readonly lookup: LookupHost;
  readonly clock: Clock;
  readonly random: () => number;
};

/** Scattered between half and one and a half, so that proxies do not come back at the same moment. */
const pollMs = 1_000;

/**
 * Controllers that return after all were gone find their proxies within seconds, whatever those had waited for already.
 * See docs/discovery.md, "Reconnecting".
 */
export function createReplicaWatch({ host, lookup, clock, random }: ReplicaWatchOptions): ReplicaWatch {
  let seen: ReadonlySet<string> = new Set();
  return {
    async lookup(name) {
      // Stays so if the name cannot be resolved.
      seen = new Set();
      const addresses = await lookup(name);
      seen = new Set(addresses);
      return addresses;
    },

    schedule(delayMs, callback) {
      let isOver = false;
      let cancelPoll = (): void => {};
      const end = (): void => {
        isOver = true;
        cancelPoll();
        cancelDelay();
      };
      const finish = (): void => {
        end();
        callback();
      };
      const look = async (): Promise<void> => {
        const addresses = await lookup(host).catch(() => []);
        if (isOver) return;
        if (addresses.some((address) => !seen.has(address))) finish();
        else poll();
      };
      const poll = (): void => {
        cancelPoll = clock.schedule(pollMs * (0.5 + random()), () => void look());
      };
      const cancelDelay = clock.schedule(delayMs, finish);
      if (isIP(host) === 0) poll();
      return end;
    },
  };
}
