import { backoffMs, type Backoff } from "@svc-gateway/common/time/backoff.ts";
import { sleep, systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ApiClient, ApiError } from "./api-client.ts";
import { heldPart } from "./object-parts.ts";

/**
 * The callbacks of a reflector, with objects from which unused parts are removed. Calls are in order; the owner's store
 * is the only state.
 */
export type ReflectorEvents = {
  /** Passes a complete list, which replaces everything at once, so that no partially read state is ever visible. */
  onList(objects: readonly KubeObject[]): void;
  onApply(object: KubeObject): void;
  onDelete(object: KubeObject): void;
  /**
   * Called when the API server has accepted the watch: from now on no change is missed, even if none happens for long.
   */
  onOpen?(): void;
  /** Called when the watch, or a list, has failed. */
  onError(error: ApiError): void;
  /** Called when the watch starts over with a list, except for the first one. */
  onRestart(): void;
};

export type ReflectorOptions = {
  readonly client: ApiClient;
  /** The path of the collection, for example `/apis/networking.k8s.io/v1/ingresses`. */
  readonly path: string;
  /**
   * The `apiVersion` that is added to each object, like `kind`, because lists of the API server omit both in their
   * items.
   */
  readonly apiVersion: string;
  readonly kind: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The number of objects in a page of a list; `defaultPageSize` by default. */
  readonly pageSize?: number;
  /** Reduces an object to the part that is kept, as soon as it arrives; by default all of it is kept. */
  readonly reduce?: (object: KubeObject) => KubeObject;
  readonly events: ReflectorEvents;
  readonly signal: AbortSignal;
  /** Returns a number from 0 to 1, excluding 1; spreads retries of many controllers. */
  readonly random?: () => number;
  readonly clock?: Clock;
};

const defaultPageSize = 500;
/** The waits are short, so that a controller catches up soon after an outage of its API server, however long. */
const backoff: Backoff = { firstMs: 500, maxMs: 5_000, jitter: "half" };
/** The longest Retry-After of a server that is respected. */
const maxRetryAfterMs = 30_000;
/**
 * The time after which the server ends a watch; up to 60 s of jitter are added, so that the watches of one process end
 * at different times.
 */
const watchTimeoutSeconds = 300;
/** The longest silence of a watch. Bookmarks arrive about once a minute, so a silent watch is a dead connection. */
const idleTimeoutMs = 150_000;

type List = {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: readonly KubeObject[];
};

type WatchEvent = { readonly type?: string; readonly object?: KubeObject & { readonly code?: number } };

/**
 * Lists a collection and follows it until the signal aborts. Resumes a watch where it ended, lists again only if the
 * server has discarded that version (410 Gone), and waits for growing intervals after failures.
 */
export async function runReflector(options: ReflectorOptions): Promise<void> {
  const { signal, events, clock = systemClock } = options;
  const waits = createWaits(options.random ?? Math.random);
  let version: string | undefined;
  while (!signal.aborted) {
    const isListing = version === undefined;
    if (version === undefined) {
      const list = await listCollection(options);
      if (!list.ok) {
        if (signal.aborted) return;
        events.onError(list.error);
        await sleep(clock, waits.next(list.error.retryAfterMs), signal);
        continue;
      }
      version = list.value.version;
      events.onList(list.value.objects);
    }
    const progress: { version: string; isExpired: boolean; moved: boolean } = {
      version,
      isExpired: false,
      moved: false,
    };
    const ended = await follow(options, progress);
    if (signal.aborted) return;
    if (progress.moved) waits.reset();
    version = progress.version;
    if (progress.isExpired || (!ended.ok && ended.error.status === 410)) {
      version = undefined;
      events.onRestart();
      // A server that immediately discards the version it has just listed must not be polled in a tight loop, either.
      if (isListing && !progress.moved) await sleep(clock, waits.next(undefined), signal);
      continue;
    }
    if (!ended.ok) events.onError(ended.error);
    // A server that ends watches immediately must not be polled in a tight loop.
    if (!ended.ok || !progress.moved) {
      await sleep(clock, waits.next(ended.ok ? undefined : ended.error.retryAfterMs), signal);
    }
  }
}

export type ListOptions = Omit<ReflectorOptions, "client" | "events" | "random" | "clock"> & {
  readonly client: Pick<ApiClient, "call">;
};

/** Reads a collection once, page by page; `version` is the one from which a watch can follow it. */
export async function listCollection(
  options: ListOptions,
): Promise<Result<{ readonly version: string; readonly objects: readonly KubeObject[] }, ApiError>> {
  const objects: KubeObject[] = [];
  let token: string | undefined;
  for (;;) {
    const page = await options.client.call<List>(options.path, {
      query: {
        limit: options.pageSize ?? defaultPageSize,
        continue: token,
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
      },
      signal: options.signal,
    });
    if (!page.ok) return page;
    for (const item of page.value.items ?? []) objects.push(take(item, options));
    const last = token;
    token = page.value.metadata?.continue;
    // A list that repeats its continue token would be read into memory indefinitely.
    if (token && token === last) {
      return fail({
        status: 0,
        reason: "EndlessList",
        message: "the list does not end: the API server returned the same continue token twice",
      });
    }
    if (token === undefined || token === "") {
      return ok({ version: page.value.metadata?.resourceVersion ?? "", objects });
    }
  }
}

/** Reduces one object. Applied to each as it arrives, so that unused parts of a long list are not held. */
export function take(
  object: KubeObject,
  { apiVersion, kind, reduce }: Pick<ReflectorOptions, "apiVersion" | "kind" | "reduce">,
): KubeObject {
  const kept = heldPart({ ...object, apiVersion, kind });
  return reduce === undefined ? kept : reduce(kept);
}

/** Runs one watch from `progress.version` on. Sets the last seen version, and whether the server has discarded it. */
async function follow(
  options: ReflectorOptions,
  progress: { version: string; isExpired: boolean; moved: boolean },
): Promise<Result<void, ApiError>> {
  const { events } = options;
  let failure: ApiError | undefined;
  const onEvent = (line: unknown): void => {
    const { type, object } = line as WatchEvent;
    if (object === undefined || failure !== undefined) return;
    if (type === "ERROR") {
      if (object.code === 410) progress.isExpired = true;
      else
        failure = { status: object.code ?? 0, reason: "WatchError", message: "the server ended the watch" };
      return;
    }
    progress.version = object.metadata.resourceVersion ?? progress.version;
    progress.moved = true;
    if (type === "ADDED" || type === "MODIFIED") events.onApply(take(object, options));
    else if (type === "DELETED") events.onDelete(take(object, options));
  };
  const ended = await options.client.watch(options.path, {
    query: {
      resourceVersion: progress.version,
      allowWatchBookmarks: true,
      timeoutSeconds: watchTimeoutSeconds + Math.floor((options.random ?? Math.random)() * 60),
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    },
    onOpen: () => events.onOpen?.(),
    onEvent,
    signal: options.signal,
    idleTimeoutMs,
  });
  return failure === undefined ? ended : fail(failure);
}

/** The waits after failures. A Retry-After of the server is respected within bounds. */
function createWaits(random: () => number): {
  next(retryAfterMs: number | undefined): number;
  reset(): void;
} {
  let failures = 0;
  return {
    next(retryAfterMs) {
      if (retryAfterMs !== undefined) return Math.min(retryAfterMs, maxRetryAfterMs) * (1 + random() / 2);
      failures++;
      return backoffMs(backoff, failures, random);
    },
    reset() {
      failures = 0;
    },
  };
}
