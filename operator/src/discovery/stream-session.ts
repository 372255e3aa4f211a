import { status } from "@grpc/grpc-js";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { isSameIdentity } from "@svc-gateway/proto/identity.ts";
import { maxMessageToProxyBytes } from "@svc-gateway/proto/wire.ts";
import { createRateCap } from "./admission.ts";
import type { ProxyMessage } from "./client-messages.ts";
import { createDelivery, type OutgoingUpdate } from "./delivery.ts";
import type { FleetRegistry } from "./fleet.ts";
import type { LeadershipState } from "./leadership-state.ts";
import type { DiscoveryServerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { overheadBytes } from "./prepared-update.ts";
import type { ExpectedPrincipals } from "./principals.ts";
import type { SnapshotCache } from "./snapshot-cache.ts";
import type { AdmittedProxy, StreamRefusal } from "./stream-admission.ts";
import { encodeServerMessage } from "./update-encoding.ts";

/** The largest number of field names in one log line. */
const maxLoggedFields = 10;

/** The stream of an admitted proxy, without its transport. */
export type StreamSession = {
  receive(message: ProxyMessage): void;
  /** Ends the session when the transport is closed or closing; nothing is sent after that. */
  close(): void;
};

export type StreamSessionOptions = {
  readonly proxy: AdmittedProxy;
  readonly cache: SnapshotCache;
  readonly fleet: FleetRegistry;
  readonly leadership: LeadershipState;
  readonly principals: ExpectedPrincipals;
  readonly metrics: DiscoveryServerMetrics;
  readonly log: Logger;
  readonly clock: Clock;
  /** Sends a message; calls back when the transport has accepted it. */
  readonly write: (message: Buffer, onFlushed: () => void) => void;
  /** Ends the stream; without a refusal, it ends without an error. */
  readonly end: (refusal?: StreamRefusal) => void;
};

/**
 * The largest rate of messages. A proxy only acknowledges updates and reports changes; a client that sends more is not
 * one of our proxies.
 */
const messageCap = { maxPerWindow: 1000, windowMs: 10_000 };

/** Serves one proxy from its admission to the end of its stream. See docs/discovery.md, "Stream". */
export function openSession(options: StreamSessionOptions): StreamSession {
  const { proxy, cache, fleet, leadership, principals, metrics, log, clock, write, end } = options;
  const mayReceive = createRateCap({ ...messageCap, nowMs: clock.nowMs });
  if (proxy.unknownFields.length > 0) {
    log.warn(
      {
        node: proxy.nodeId,
        unknown_fields: proxy.unknownFields.length,
        first: proxy.unknownFields.slice(0, maxLoggedFields),
      },
      "proxy is of an older release: settings that it does not know have no effect there",
    );
  }
  const membership = fleet.join({ ...proxy, onReplaced: () => stop() });
  let announced: boolean | undefined;
  let isWriting = false;
  let isClosed = false;

  /** Sends a message. `next`, if given, sends the next message right after it. */
  const send = (message: Buffer, next?: () => void): void => {
    isWriting = true;
    write(message, () => {
      isWriting = false;
      if (next !== undefined && !isClosed) next();
      if (!isWriting) announce();
    });
  };

  /** Sends the parts sequentially. Each is encoded only when the transport has accepted the previous one. */
  const sendParts = ({ update, nonce }: OutgoingUpdate): void => {
    const read = update.parts();
    const sendNext = (): void => {
      const part = read();
      if (part === undefined) return;
      announced = leadership.isLeading();
      send(encodeServerMessage(announced, { update: part, nonce }), sendNext);
    };
    sendNext();
  };

  /** Sends an update in one message, to a proxy of an older release. */
  const sendWhole = ({ update, nonce }: OutgoingUpdate): void => {
    if (update.bytes > maxMessageToProxyBytes - overheadBytes) {
      log.error(
        { node: proxy.nodeId, bytes: update.bytes, max_bytes: maxMessageToProxyBytes },
        "snapshot is too large for this proxy, whose release takes it in one message only",
      );
      return stop({ code: status.INTERNAL, message: "the snapshot is larger than 64 MiB" });
    }
    announced = leadership.isLeading();
    send(encodeServerMessage(announced, { update: update.whole(), nonce }));
  };

  const delivery = createDelivery({
    current: () => (isClosed ? undefined : cache.get(proxy.scope)),
    clock,
    send(outgoing) {
      metrics.snapshotMessages.with({ kind: outgoing.update.isFull ? "full" : "delta" }).inc();
      if (proxy.takesParts) sendParts(outgoing);
      else sendWhole(outgoing);
    },
  });

  /**
   * Announces a change of leadership in a separate message, unless a message that carries it is in flight or none was
   * ever sent.
   */
  const announce = (): void => {
    if (isClosed || isWriting || announced === undefined || announced === leadership.isLeading()) return;
    sendState();
  };

  /** Sends a message without a snapshot. */
  const sendState = (): void => {
    announced = leadership.isLeading();
    send(encodeServerMessage(announced));
  };

  /** Ends the stream if its proxy has lost the right to its scope; otherwise sends the next update. */
  const onScopeChange = (): void => {
    const expected = principals.ofScope(proxy.scope);
    if (expected !== undefined && isSameIdentity(expected, proxy.identity)) return delivery.advance();
    stop({ code: status.PERMISSION_DENIED, message: "the scope does not belong to this proxy any more" });
  };

  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    metrics.connectedProxies.with({}).dec();
    delivery.close();
    unsubscribe();
    unsubscribeLeadership();
    cancelExpiry();
    membership.leave();
  };

  const stop = (refusal?: StreamRefusal): void => {
    if (isClosed) return;
    close();
    end(refusal);
  };

  metrics.connectedProxies.with({}).inc();
  const unsubscribe = cache.subscribe(proxy.scope, onScopeChange);
  const unsubscribeLeadership = leadership.subscribe(announce);
  const cancelExpiry = clock.schedule(proxy.certificateEndsMs - clock.nowMs(), () =>
    stop({ code: status.PERMISSION_DENIED, message: "the certificate has expired" }),
  );

  const receive = (message: ProxyMessage): void => {
    if (isClosed) return;
    if (!mayReceive()) return stop({ code: status.INTERNAL, message: "too many messages" });
    switch (message.kind) {
      case "subscribe":
        return stop({ code: status.INVALID_ARGUMENT, message: "Subscribe was sent twice" });
      case "ack": {
        if (!delivery.acknowledge(message.nonce)) return;
        metrics.acks.with({}).inc();
        const snapshot = delivery.acknowledged();
        if (snapshot !== undefined) membership.setAcknowledged(snapshot);
        return delivery.advance();
      }
      case "nack":
        if (!delivery.refuse(message.nonce)) return;
        log.warn(
          { node: proxy.nodeId, version: message.version, reason: message.detail },
          "proxy refused a snapshot",
        );
        return delivery.advance();
      case "node_status":
        return membership.setBoundPorts(message.boundPorts);
      case "health_report":
        return membership.setHealth(message.release, message.checks);
      case "ping":
        // A message in flight already answers it.
        if (!isWriting) sendState();
        return;
      case "unknown":
        return;
    }
  };

  delivery.advance();
  return { receive, close };
}
