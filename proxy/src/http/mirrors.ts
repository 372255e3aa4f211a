import type { Exchange } from "../exchange/exchange.ts";
import { BodyMemory } from "./held-body.ts";
import { MirrorRequest, type MirrorDependencies, type MirrorOwner } from "./mirror-request.ts";
import type { OutgoingBody } from "./outgoing-body.ts";

/** The most copies under way in a worker; further requests are not copied. */
const maxConcurrent = 256;
/** The most body bytes that wait for mirrors in a worker. */
const maxHeldBytes = 16 * 1024 * 1024;
/** The shortest time between two logged failures; those in between are counted. */
const warnIntervalMs = 1000;

/**
 * The copies of requests that a worker sends to mirrors. A copy never affects its original, which does not wait for it.
 * Copies and pieces of bodies beyond the limits are dropped (docs/features/mirror-target.md).
 */
export class Mirrors implements MirrorOwner {
  readonly deps: MirrorDependencies;
  readonly memory = new BodyMemory(maxHeldBytes);
  private readonly random: () => number;
  private active = 0;
  private warnedAtMs = Number.NEGATIVE_INFINITY;
  /** Failures since the last one that was logged. */
  private unlogged = 0;

  constructor(deps: MirrorDependencies) {
    this.deps = deps;
    this.random = deps.random ?? Math.random;
  }

  /** Sends the copies that the mirror plans of the exchange require. `body` is its body, which is not started yet. */
  copy(exchange: Exchange, body: OutgoingBody | null): void {
    // A tunnel is bidirectional and cannot be copied. A copy that the gateway serves itself is not copied again.
    if (exchange.upgrade !== undefined || exchange.connection.isQuestion === true) return;
    for (const plan of exchange.mirrors) {
      if (this.random() >= plan.share) continue;
      if (this.active >= maxConcurrent) {
        this.countLimit("mirror-requests");
        continue;
      }
      this.active++;
      if (!new MirrorRequest(this, exchange, plan).start(body)) {
        this.active--;
        this.warn(exchange, plan.service, plan.upstream === undefined ? "host not served" : "no endpoint");
        continue;
      }
      this.deps.metrics.mirrorRequests
        .with({ route: exchange.route?.id ?? "", upstream: plan.service })
        .inc();
    }
  }

  ended(): void {
    this.active--;
  }

  countLimit(limit: "mirror-requests" | "mirror-body"): void {
    this.deps.metrics.limitsReached.with({ limit }).inc();
  }

  warn(exchange: Exchange, upstream: string, reason: string): void {
    const nowMs = performance.now();
    if (nowMs - this.warnedAtMs < warnIntervalMs) {
      this.unlogged++;
      return;
    }
    this.deps.log.warn(
      { route_id: exchange.route?.id ?? "", upstream, reason, untold_before: this.unlogged },
      "mirror request failed",
    );
    this.warnedAtMs = nowMs;
    this.unlogged = 0;
  }
}
