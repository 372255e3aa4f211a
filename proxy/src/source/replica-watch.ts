import { isIP } from "node:net";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import type { LookupHost } from "./addresses.ts";

/** Detects replicas that appear while the proxy waits for a response or for its next attempt. */
export type ReplicaWatch = {
  /** The lookup for resolving the name; the addresses of its last answer do not count as new. */
  readonly lookup: LookupHost;
  /** Calls back once with each new address, until the returned function is called. */
  readonly follow: (onNew: (addresses: readonly string[]) => void) => () => void;
  /**
   * Schedules like a clock, but calls back before the end of the delay once the name has an address that the last
   * lookup did not return.
   */
  readonly schedule: Clock["schedule"];
};

export type ReplicaWatchOptions = {
  readonly host: string;
  readonly lookup: LookupHost;
  readonly clock: Clock;
  readonly random: () => number;
};

/** The poll interval, with a jitter of 50 per cent so that proxies do not reconnect simultaneously. */
const pollMs = 1_000;

/**
 * Creates a watch that lets proxies reconnect within seconds when controllers return after an outage, regardless of
 * their backoff. See docs/discovery.md, "Reconnecting".
 */
export function createReplicaWatch({ host, lookup, clock, random }: ReplicaWatchOptions): ReplicaWatch {
  let seen: ReadonlySet<string> = new Set();

  const follow: ReplicaWatch["follow"] = (onNew) => {
    let isOver = false;
    let cancelPoll = (): void => {};
    const look = async (): Promise<void> => {
      const addresses = await lookup(host).catch(() => []);
      if (isOver) return;
      const added = addresses.filter((address) => !seen.has(address));
      seen = new Set([...seen, ...added]);
      poll();
      if (added.length > 0) onNew(added);
    };
    const poll = (): void => {
      cancelPoll = clock.schedule(pollMs * (0.5 + random()), () => void look());
    };
    if (isIP(host) === 0) poll();
    return () => {
      isOver = true;
      cancelPoll();
    };
  };

  return {
    async lookup(name) {
      // If the name cannot be resolved, the set stays empty, so that every address counts as new.
      seen = new Set();
      const addresses = await lookup(name);
      seen = new Set(addresses);
      return addresses;
    },

    follow,

    schedule(delayMs, callback) {
      const end = (): void => {
        leave();
        cancelDelay();
      };
      const finish = (): void => {
        end();
        callback();
      };
      const leave = follow(finish);
      const cancelDelay = clock.schedule(delayMs, finish);
      return end;
    },
  };
}
