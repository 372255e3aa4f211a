import { networkOf } from "@svc-gateway/common/values/client-network.ts";
import { Holdings } from "../fairness/holdings.ts";
import { awake } from "../timing/awake-clock.ts";
import type { HandshakeEvents, HandshakeFailure } from "./handshake-result.ts";
import type { TlsSettings } from "./server-options.ts";

/** If there is no room, a handshake that has used this share of its time limit can be evicted for a new one. */
const evictableShare = 1 / 4;
/** The age for the same purpose if handshakes have no time limit. */
const evictableWithoutLimitMs = 2_500;

/** A connection whose handshake is not complete, as counted and timed by the limits. */
export type HandshakePlace = {
  readonly connection: { destroy(): unknown };
  readonly network: string;
  readonly startedMs: number;
  readonly onFirstByte: (() => void) | undefined;
  /** The time when the ClientHello arrived; undefined before. */
  helloMs: number | undefined;
  /** The reason of the failure if the connection ends now. */
  failure: HandshakeFailure;
};

/**
 * The places of handshakes, of connections with sockets and without. A connection without a ClientHello costs only its
 * place among the connections. A part of a ClientHello costs memory, and a whole one costs a signature, so both have
 * their own bounds (docs/features/tls.md, "Limits").
 */
export class HandshakePlaces {
  private readonly events: HandshakeEvents;
  private readonly timeoutMs: number;
  private readonly max: number;
  private readonly evictableMs: number;
  /** All places, oldest first. */
  private readonly held = new Set<HandshakePlace>();
  /** Handshakes that have sent a part of their ClientHello. */
  private readonly begun = new Holdings<HandshakePlace>();
  /** Handshakes whose ClientHello has arrived, in that order. */
  private readonly arrived = new Set<HandshakePlace>();
  private readonly arrivedByNetwork = new Holdings<HandshakePlace>();
  private sweeper: NodeJS.Timeout | undefined = undefined;

  constructor({ handshakeTimeoutMs, maxHandshakes }: TlsSettings, events: HandshakeEvents) {
    this.events = events;
    this.timeoutMs = handshakeTimeoutMs;
    this.max = maxHandshakes;
    this.evictableMs = handshakeTimeoutMs > 0 ? handshakeTimeoutMs * evictableShare : evictableWithoutLimitMs;
  }

  get pending(): number {
    return this.held.size;
  }

  get shaking(): number {
    return this.arrived.size;
  }

  /** Reports whether the handshake has neither completed nor failed. */
  has(place: HandshakePlace): boolean {
    return this.held.has(place);
  }

  /** Takes a place for a connection that has sent nothing. */
  take(
    connection: HandshakePlace["connection"],
    ip: string,
    onFirstByte: HandshakePlace["onFirstByte"],
  ): HandshakePlace {
    const place: HandshakePlace = {
      connection,
      network: networkOf(ip),
      startedMs: awake.nowMs,
      onFirstByte,
      helloMs: undefined,
      failure: "silent",
    };
    this.held.add(place);
    if (this.timeoutMs > 0) this.sweeper ??= setInterval(this.sweep, this.sweepIntervalMs);
    return place;
  }

  /** Records that a part of the ClientHello has arrived. */
  begin(place: HandshakePlace): void {
    const { begun } = this;
    place.failure = "client closed";
    place.onFirstByte?.();
    const evicted = begun.size >= this.max ? begun.oldestOfMost() : undefined;
    if (evicted !== undefined) this.fail(evicted, "too many handshakes");
    begun.add(place.network, place);
  }

  /** Records that the bytes of the ClientHello are complete, or too many. */
  endBegun(place: HandshakePlace): void {
    this.begun.delete(place.network, place);
    place.onFirstByte?.();
  }

  /** Counts a handshake that is about to start. Returns false if there is no room, in which case it has failed. */
  shake(place: HandshakePlace): boolean {
    const { network } = place;
    place.failure = "failed";
    if (!this.makeRoom(network)) {
      this.fail(place, "too many handshakes");
      return false;
    }
    place.helloMs = awake.nowMs;
    this.arrived.add(place);
    this.arrivedByNetwork.add(network, place);
    return true;
  }

  /** Frees the place, because the handshake is complete or the connection is passed on. */
  forget(place: HandshakePlace): void {
    const { network } = place;
    if (!this.held.delete(place)) return;
    this.begun.delete(network, place);
    if (this.arrived.delete(place)) this.arrivedByNetwork.delete(network, place);
    if (this.held.size > 0) return;
    clearInterval(this.sweeper);
    this.sweeper = undefined;
  }

  /** Ends a handshake that is not complete. */
  fail(place: HandshakePlace, failure: HandshakeFailure): void {
    if (!this.held.has(place)) return;
    this.forget(place);
    if (failure !== "silent")
      this.events.onHandshake({ result: "fail", version: "unknown", reason: failure });
    place.connection.destroy();
  }

  private get sweepIntervalMs(): number {
    return Math.max(10, Math.min(500, this.timeoutMs / 4));
  }

  private readonly sweep = (): void =>
    void this.endOlderThan(this.timeoutMs, this.held, ({ startedMs }) => startedMs);

  /**
   * Makes room for one more handshake of the network; returns false if that is not possible. A handshake is evicted
   * from the network that has the most, otherwise all that have taken long. Handshakes that have just begun may finish,
   * so that a rush of honest clients is served gradually instead of not at all.
   */
  private makeRoom(network: string): boolean {
    const { arrived, arrivedByNetwork } = this;
    if (arrived.size < this.max) return true;
    const evicted = arrivedByNetwork.oldestOfMost(arrivedByNetwork.countOf(network) + 2);
    if (evicted === undefined)
      return this.endOlderThan(this.evictableMs, arrived, ({ helloMs = 0 }) => helloMs);
    this.fail(evicted, "too many handshakes");
    return true;
  }

  /**
   * Fails handshakes that are older than `ageMs`; `oldestFirst` is in the order of `sinceMs`. Reports whether any
   * failed.
   */
  private endOlderThan(
    ageMs: number,
    oldestFirst: Iterable<HandshakePlace>,
    sinceMs: (place: HandshakePlace) => number,
  ): boolean {
    awake.look();
    const { nowMs } = awake;
    let ended = false;
    for (const place of oldestFirst) {
      if (nowMs - sinceMs(place) < ageMs) break;
      this.fail(place, "timeout");
      ended = true;
    }
    return ended;
  }
}
