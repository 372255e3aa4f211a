import { Buffer } from "node:buffer";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { systemClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { Leadership } from "../lifecycle/leadership.ts";
import { type ApiClient, describeApiError } from "../sources/kubernetes/api-client.ts";
import { createLookup, type World } from "../world.ts";
import { fieldManager } from "../write/status-writer.ts";
import {
  formatTicketSecrets,
  nextTicketSecretMs,
  parseTicketSecrets,
  ticketKeysOf,
  withNewTicketSecret,
  type TicketSecret,
} from "./ticket-secrets.ts";

export type TicketKeyKeeperOptions = {
  readonly client: ApiClient;
  /** The namespace in which the controllers are installed. */
  readonly namespace: string;
  readonly leadership: Pick<Leadership, "term">;
  readonly log: Logger;
  /** The wall clock: the age of a key is counted across restarts, and must be the same on every replica. */
  readonly clock?: Clock;
};

export type TicketKeyKeeper = {
  /** Returns the keys of a scope in this world, the same on every replica; empty if there are none. */
  resources(world: World, scope: ProxyScope): readonly Resource[];
  /** Checks whether a new key is due, after a build and at the time when it is due. Only the leader writes. */
  check(world: World): void;
  stop(): void;
};

/** The Secret of the ticket keys, of a type that no Ingress or Gateway can use. */
export const ticketKeySecret = "svc-ticket-keys";
const dataKey = "keys";
const retryMs = 5_000;
/** The longest wait until the next check: timers of many hours drift. */
const maxWaitMs = 60 * 60_000;

type Stored = {
  readonly metadata: { readonly resourceVersion?: string };
  readonly data?: Readonly<Record<string, string>>;
};

/**
 * Keeps the ticket keys in a Secret of the install namespace. The leader adds one every twelve hours, and every replica
 * sends the keys in the Secret. Without the Secret, or while it cannot be written, proxies create their own keys.
 */
export function createTicketKeyKeeper(options: TicketKeyKeeperOptions): TicketKeyKeeper {
  const { client, namespace, leadership, log, clock = systemClock } = options;
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  let world: World | undefined;
  let running = false;
  let stopped = false;
  let cancelTimer = (): void => {};

  const read = (encoded: string | undefined): readonly TicketSecret[] =>
    parseTicketSecrets(Buffer.from(encoded ?? "", "base64").toString("latin1"), clock.nowMs());

  const present = (from: World): readonly TicketSecret[] =>
    read(createLookup(from)("Secret", namespace, ticketKeySecret)?.data?.[dataKey]);

  /**
   * Adds a key if one is due. Reads the Secret itself first, because the world may be older than this replica's last
   * write.
   */
  const renew = async (): Promise<Result<void>> => {
    const found = await client.call<Stored>(`${secrets}/${ticketKeySecret}`);
    if (!found.ok && found.error.status !== 404) return problem(describeApiError(found.error));
    const stored = found.ok ? found.value : undefined;
    const known = read(stored?.data?.[dataKey]);
    const nowMs = clock.nowMs();
    if (nextTicketSecretMs(known) > nowMs) return ok(undefined);
    const renewed = withNewTicketSecret(known, nowMs);
    const data = { [dataKey]: Buffer.from(formatTicketSecrets(renewed), "latin1").toString("base64") };
    const sent =
      stored === undefined
        ? await client.call(secrets, {
            method: "POST",
            query: { fieldManager },
            body: {
              apiVersion: "v1",
              kind: "Secret",
              metadata: { name: ticketKeySecret, labels },
              type: "Opaque",
              data,
            },
          })
        : await client.call(`${secrets}/${ticketKeySecret}`, {
            method: "PATCH",
            patch: "merge",
            query: { fieldManager },
            body: { metadata: { resourceVersion: stored.metadata.resourceVersion }, data },
          });
    // After a conflict, the key of the faster replica counts; the watch reports it.
    if (!sent.ok) return sent.error.status === 409 ? ok(undefined) : problem(describeApiError(sent.error));
    log.info({ secret: ticketKeySecret, keys: renewed.length }, "session ticket key added");
    return ok(undefined);
  };

  const wait = (delayMs: number): void => {
    cancelTimer();
    if (!stopped) cancelTimer = clock.schedule(Math.max(0, Math.min(delayMs, maxWaitMs)), look);
  };

  const look = (): void => {
    if (running || stopped || world === undefined) return;
    const dueMs = nextTicketSecretMs(present(world)) - clock.nowMs();
    if (dueMs > 0 || leadership.term() === undefined) return wait(dueMs > 0 ? dueMs : retryMs);
    running = true;
    void renew()
      .catch((error: unknown) => problem(`internal error: ${String(error)}`))
      .then((result) => {
        running = false;
        if (!result.ok) log.warn({ reason: result.error.message }, "session ticket key renewal failed");
        wait(retryMs);
      });
  };

  return {
    resources(from, scope) {
      const keys = present(from);
      return keys.length === 0 ? [] : [ticketKeysOf(keys, nameOf(scope))];
    },
    check(latest) {
      world = latest;
      look();
    },
    stop() {
      stopped = true;
      cancelTimer();
    },
  };
}

/** The name from which the keys of a scope are derived. */
const nameOf = (scope: ProxyScope): string =>
  scope.kind === "shared" ? "shared_pool" : `gateway ${formatNamespacedName(scope.gateway)}`;

const labels = { "app.kubernetes.io/name": "svc", "app.kubernetes.io/managed-by": "svc" };
