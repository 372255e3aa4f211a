import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { Envelope } from "@svc-gateway/proto/envelope.ts";
import { Ack, ClientMessage, Nack } from "@svc-gateway/proto/generated/discovery.js";
import type { IncomingUpdate } from "../state/incoming-update.ts";
import type { DiscoveryClientMetrics } from "./discovery-client-metrics.ts";
import { createUpdateAssembler } from "./update-assembler.ts";

/**
 * Applies an update as a whole or not at all: checks hashes, version, references and ranges, and keeps the previous
 * state when it rejects the update. The problem is sent to the controller unchanged. Called when the first part has
 * arrived.
 */
export type ApplyUpdate = (update: IncomingUpdate) => Result<unknown> | Promise<Result<unknown>>;

export type UpdateReceiverOptions = {
  /** Never rejects. */
  readonly apply: (update: IncomingUpdate) => Promise<Result<unknown>>;
  readonly send: (message: ClientMessage) => void;
  readonly onApplied: (version: string) => void;
  readonly metrics: DiscoveryClientMetrics;
  readonly log: Logger;
};

const maxDetailLength = 1000;

export type UpdateReceiver = {
  /** Processes a message. Resolves when the next one may follow, and rejects if the stream must be closed. */
  receive(envelope: Envelope): Promise<void>;
  /** Abandons an incomplete update, because the stream has ended. */
  end(): void;
};

/**
 * The receiving side of a stream: assembles updates from their parts, applies each and answers it with Ack or Nack. The
 * first update must be full, because the deltas of a stream are not relative to the updates of an earlier stream. See
 * docs/discovery.md, "Snapshots".
 */
export function createUpdateReceiver(options: UpdateReceiverOptions): UpdateReceiver {
  const { apply, send, onApplied, metrics, log } = options;
  const assembler = createUpdateAssembler();
  let hasBase = false;
  let applying: Promise<Result<unknown>> | undefined;

  const begin = (update: IncomingUpdate): Promise<Result<unknown>> =>
    update.full || hasBase
      ? apply(update)
      : Promise.resolve(problem("a delta came before the first full snapshot"));

  const receive = async ({ snapshot }: Envelope): Promise<void> => {
    if (snapshot === undefined) return;
    const received = assembler.take(snapshot);
    if (!received.ok) throw new Error(received.error.message);
    const { update, nonce, isComplete } = received.value;
    applying ??= begin(update);
    if (!isComplete) return;
    const result = await applying;
    applying = undefined;
    const { version, full } = update;
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

  return { receive, end: () => assembler.abandon() };
}
