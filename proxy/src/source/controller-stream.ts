import { status, type StatusObject } from "@grpc/grpc-js";
import { createListeners } from "@svc-gateway/common/collections/listeners.ts";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import type { Endpoint } from "@svc-gateway/common/values/endpoint.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { readEnvelope, type Envelope } from "@svc-gateway/proto/envelope.ts";
import {
  ClientMessage,
  Gateway,
  Ping,
  Scope,
  SharedPool,
  Subscribe,
} from "@svc-gateway/proto/generated/discovery.js";
import { rawDiscoveryService } from "@svc-gateway/proto/service.ts";
import { contractFields } from "@svc-gateway/common/ir/contract-fields.ts";
import { wireVersion } from "@svc-gateway/proto/wire.ts";
import { createChannel, type ChannelRequest } from "./channel.ts";
import { createLiveness, type After, type LivenessLimits } from "./liveness.ts";
import type { ProxyIdentity } from "./proxy-identity.ts";

/** How a stream ended, or why it could not be opened. */
export type StreamEnd = {
  readonly kind:
    | "closed" // without an error
    | "rejected" // another wire version: a retry is pointless
    | "unavailable" // a controller has answered that it cannot serve yet
    | "failed"; // everything else
  readonly message: string;
};

export type StreamRequest = ChannelRequest & {
  readonly identity: ProxyIdentity;
  readonly nodeId: string;
  readonly scope: ProxyScope;
  readonly clock: Clock;
  readonly liveness: LivenessLimits;
  readonly after: After;
};

/** An open stream whose first message has arrived and is not processed yet. */
export type ControllerStream = {
  readonly address: Endpoint;
  /** The certificate that the proxy presented. */
  readonly identity: ProxyIdentity;
  /** Whether the replica is the leader, by its latest message. */
  isLeading(): boolean;
  /** How the stream ended; undefined while it is open. */
  end(): StreamEnd | undefined;
  /** Calls back when `isLeading` or `end` has changed. Returns a function that unsubscribes. */
  watch(listener: () => void): () => void;
  /** Passes every message, starting with the first, to the receiver; the next only after its promise has resolved. */
  receive(receiver: (envelope: Envelope) => Promise<void>): void;
  send(message: ClientMessage): void;
  close(): void;
};

/** The limit from the start of the connection to the first message, which has the snapshot or its first part. */
const openTimeoutMs = 15_000;

/**
 * Connects to one replica, subscribes, and waits for its first message. The signal aborts this wait; a stream that has
 * been returned is closed by `close` only.
 */
export function openStream(
  request: StreamRequest,
  signal: AbortSignal,
): Promise<Result<ControllerStream, StreamEnd>> {
  const { address, identity, nodeId, scope, clock } = request;
  const channel = createChannel(request);
  if (!channel.ok) return Promise.resolve(fail({ kind: "failed", message: channel.error.message }));
  const client = channel.value;
  const { path, requestSerialize, responseDeserialize } = rawDiscoveryService.Stream;
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  const watchers = createListeners();
  let receiver: ((envelope: Envelope) => Promise<void>) | undefined;
  let first: Envelope | undefined;
  let leading = false;
  let hasAnswered = false;
  let end: StreamEnd | undefined;

  return new Promise((resolve) => {
    const finish = (how: StreamEnd): void => {
      if (end !== undefined) return;
      end = how;
      stopWaiting();
      liveness.stop();
      call.cancel();
      client.close();
      resolve(fail(how));
      notify();
    };

    const notify = (): void => {
      watchers.notify();
    };

    const liveness = createLiveness({
      limits: request.liveness,
      after: request.after,
      ping: () => stream.send(new ClientMessage({ ping: new Ping() })),
      onSilent: () =>
        finish({ kind: "failed", message: `no message for ${request.liveness.silenceMs / 1000} seconds` }),
    });

    const resume = (envelope: Envelope): void => {
      call.resume();
      // Controllers of older releases answer only the keepalive of gRPC, not pings.
      if (envelope.answersPings) liveness.received();
    };

    const deliver = (envelope: Envelope): void => {
      call.pause();
      liveness.suspend();
      // A receiver reports its own failures; an exception is a bug, and the stream must not hang on it.
      (receiver?.(envelope) ?? Promise.resolve()).then(
        () => resume(envelope),
        (error: unknown) => finish({ kind: "failed", message: `internal error: ${String(error)}` }),
      );
    };

    const onMessage = (bytes: Buffer): void => {
      if (end !== undefined) return;
      const envelope = readEnvelope(bytes);
      if (envelope === undefined)
        return finish({ kind: "failed", message: "a message of the controller cannot be decoded" });
      const hasChanged = leading !== envelope.leading;
      leading = envelope.leading;
      if (receiver !== undefined) deliver(envelope);
      else {
        stopWaiting();
        call.pause();
        first = envelope;
        resolve(ok(stream));
      }
      if (hasChanged) notify();
    };

    const stream: ControllerStream = {
      address,
      identity,
      isLeading: () => leading,
      end: () => end,
      watch: watchers.subscribe,
      receive(next) {
        receiver = next;
        if (first !== undefined) deliver(first);
        first = undefined;
      },
      send(message) {
        if (end === undefined) call.write(Buffer.from(message.serialize()));
      },
      close: () => finish({ kind: "closed", message: "closed by this proxy" }),
    };

    const onAbort = (): void => finish({ kind: "closed", message: "aborted" });
    const stopWaiting = (): void => {
      cancelTimeout();
      signal.removeEventListener("abort", onAbort);
    };
    const cancelTimeout = clock.schedule(openTimeoutMs, () =>
      finish({ kind: "failed", message: `no snapshot within ${openTimeoutMs / 1000} seconds` }),
    );
    signal.addEventListener("abort", onAbort, { once: true });
    call.on("metadata", () => {
      hasAnswered = true;
    });
    call.on("data", onMessage);
    call.on("status", (ending) => finish(endOf(ending, hasAnswered)));
    call.on("error", () => {}); // reported by `status`
    call.write(Buffer.from(subscription(nodeId, scope).serialize()));
    if (signal.aborted) onAbort();
  });
}

function subscription(nodeId: string, scope: ProxyScope): ClientMessage {
  const subscribed =
    scope.kind === "shared"
      ? new Scope({ shared_pool: new SharedPool() })
      : new Scope({ gateway: new Gateway({ ...scope.gateway }) });
  return new ClientMessage({
    subscribe: new Subscribe({
      node_id: nodeId,
      wire_version: wireVersion,
      scope: subscribed,
      takes_parts: true,
      known_fields: [...contractFields()],
    }),
  });
}

function endOf({ code, details, metadata }: StatusObject, hasAnswered: boolean): StreamEnd {
  const message = `${status[code] ?? code}: ${details.slice(0, 300)}`;
  switch (code) {
    case status.OK:
      return { kind: "closed", message: "ended by the controller" };
    case status.FAILED_PRECONDITION:
      return { kind: "rejected", message };
    case status.UNAVAILABLE:
      // gRPC uses the same code for connections that fail; only an answer of the controller has headers.
      return { kind: hasAnswered || hasFields(metadata) ? "unavailable" : "failed", message };
    default:
      return { kind: "failed", message };
  }
}

const hasFields = (metadata: StatusObject["metadata"]): boolean => Object.keys(metadata.getMap()).length > 0;
