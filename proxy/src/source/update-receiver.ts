import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { Envelope } from "@svc-gateway/proto/envelope.ts";
import { Ack, ClientMessage, Nack } from "@svc-gateway/proto/generated/discovery.js";
import type { DiscoveryClientMetrics } from "./discovery-client-metrics.ts";
import { createUpdateAssembler } from "./update-assembler.ts";

/**
 * Applies an update whole or not at all: checks hashes, version, references and ranges, and keeps the previous state
 * when it rejects the update. The problem is sent to the controller as it is.
 */
export type ApplyUpdate = (update: SnapshotUpdate) => Result<unknown> | Promise<Result<unknown>>;

export type UpdateReceiverOptions = {
  readonly apply: (update: SnapshotUpdate) => Promise<Result<unknown>>;
  readonly send: (message: ClientMessage) => void;
  readonly onApplied: (version: string) => void;
  readonly metrics: DiscoveryClientMetrics;
  readonly log: Logger;
};

const maxDetailLength = 1000;

/**
 * The receiving side of a stream: assembles updates from their parts, applies each and answers it with Ack or Nack. The
 * first update must be full, because deltas of a stream do not build upon the updates of an earlier one. See
 * docs/discovery.md, "Snapshots".
 */
export function createUpdateReceiver(options: UpdateReceiverOptions): (envelope: Envelope) => Promise<void> {
  const { apply, send, onApplied, metrics, log } = options;
  const assemble = createUpdateAssembler();
  let hasBase = false;
  return async ({ snapshot }) => {
    if (snapshot === undefined) return;
    const received = assemble(snapshot);
    if (!received.ok) throw new Error(received.error.message);
    if (received.value === undefined) return;
    const { update, nonce } = received.value;
    const { version, full } = update;
    const result =
      full || hasBase ? await apply(update) : problem("a delta came before the first full snapshot");
    metrics.snapshots.with({ kind: full ? "full" : "delta", result: result.ok ? "ok" : "nack" }).inc();
    if (result.ok) {
      hasBase = true;
      metrics.snapshotTime.with({}).set(Date.now() / 1000);
      send(new ClientMessage({ ack: new Ack({ version, nonce }) }));
      onApplied(version);
    } else {
      const detail = result.error.message.slice(0, maxDetailLength);
      log.warn({ version, full, reason: detail }, "snapshot refused");
      send(new ClientMessage({ nack: new Nack({ version, nonce, detail }) }));
    }
  };
}
