import { sleep, type Clock } from "@svc-gateway/common/time/clock.ts";
import type { Result } from "@svc-gateway/common/values/result.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ApiClient, ApiError } from "./api-client.ts";

/** Reads single objects that were not held and are wanted now. */
export type ObjectLoader = {
  /**
   * Reads the object at a path until the read succeeds, the object does not exist, or it is no longer wanted; passes it
   * to `accept`. The promise resolves after the first attempt, successful or not. Calls for a path that is being read
   * share one read.
   */
  load(path: string, wanted: () => boolean, accept: (object: KubeObject) => void): Promise<void>;
};

const maxRunning = 8;
const firstWaitMs = 500;
const maxWaitMs = 30_000;

export function createObjectLoader(options: {
  readonly client: Pick<ApiClient, "call">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): ObjectLoader {
  const { client, clock, signal } = options;
  const underWay = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let running = 0;

  const inTurn = async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= maxRunning) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };

  const read = (path: string): Promise<Result<KubeObject, ApiError>> =>
    inTurn(() => client.call<KubeObject>(path, { signal }));

  return {
    load(path, wanted, accept) {
      const known = underWay.get(path);
      if (known !== undefined) return known;
      const { promise: tried, resolve } = Promise.withResolvers<void>();
      underWay.set(path, tried);
      const attempt = async (): Promise<void> => {
        for (
          let waitMs = firstWaitMs;
          wanted() && !signal.aborted;
          waitMs = Math.min(waitMs * 2, maxWaitMs)
        ) {
          const found = await read(path);
          if (found.ok && wanted()) accept(found.value);
          resolve();
          if (found.ok || found.error.status === 404) return;
          await sleep(clock, waitMs, signal);
        }
      };
      void attempt().finally(() => {
        underWay.delete(path);
        resolve();
      });
      return tried;
    },
  };
}
