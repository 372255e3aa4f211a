import { EventEmitter, once } from "node:events";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import type { Clock } from "@svc-gateway/common/time/clock.ts";
import { expect } from "chai";
import { useRunningClock } from "../../../common/test/time/running-clock.ts";
import { until } from "../../../common/test/until.ts";
import { runLeaderElection } from "../../src/lifecycle/leader-election.ts";
import { createLeadership } from "../../src/lifecycle/leadership.ts";
import { createApiClient } from "../../src/sources/kubernetes/api-client.ts";
import { createOutageLog } from "../../src/sources/kubernetes/outage-log.ts";
import { sendJson, startFakeApiServer, type FakeApiServer } from "../sources/kubernetes/fake-api-server.ts";

type StoredLease = { metadata: { resourceVersion?: string }; spec: { holderIdentity: string } };

type LeaseServer = {
  lease: StoredLease | undefined;
  broken: boolean;
  silent: boolean;
  /** The holders that were written, in order. */
  readonly holders: string[];
};

/** A server with one Lease and optimistic locking; `broken` makes it answer 500, `silent` not at all. */
async function startLeaseServer(): Promise<FakeApiServer & LeaseServer> {
  const state: LeaseServer = { lease: undefined, broken: false, silent: false, holders: [] };
  let version = 0;
  const server = await startFakeApiServer((request, response) => {
    if (state.silent) return;
    if (state.broken) return sendJson(response, {}, 500);
    if (request.method === "GET") {
      return state.lease === undefined ? sendJson(response, {}, 404) : sendJson(response, state.lease);
    }
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const sent = JSON.parse(text) as StoredLease;
      const current = state.lease?.metadata.resourceVersion;
      if (request.method === "POST" ? current !== undefined : sent.metadata.resourceVersion !== current) {
        return sendJson(response, { reason: "Conflict" }, 409);
      }
      state.lease = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(++version) } };
      state.holders.push(sent.spec.holderIdentity);
      sendJson(response, state.lease);
    });
  });
  return Object.assign(state, server);
}

/** One replica; `leading` follows its callbacks. */
async function startReplicaOn(clock: Clock, server: FakeApiServer, identity: string, ttlMs: number) {
  const stop = new AbortController();
  const changes = new EventEmitter();
  const state = { leading: false };
  const client = await createApiClient(server.config);
  const leadership = createLeadership({
    metrics: createMetricSet(controllerMetrics),
    log: silentLogger,
    clock,
  });
  leadership.subscribe(() => {
    state.leading = leadership.isLeading();
    changes.emit("change");
  });
  const running = runLeaderElection({
    client,
    namespace: "svc-system",
    leaseName: "svc-leader-lock",
    identity,
    ttlMs,
    renewIntervalMs: ttlMs / 3,
    signal: stop.signal,
    leadership,
    outage: createOutageLog(silentLogger, "lease"),
    clock,
  });
  return {
    state,
    async until(leading: boolean): Promise<void> {
      while (state.leading !== leading) await once(changes, "change");
    },
    async stop(): Promise<void> {
      stop.abort();
      await running;
      await client.close();
    },
  };
}

describe("runLeaderElection", () => {
  // A lease does not end, and no call is given up, because the machine is busy.
  const clock = useRunningClock();
  const startReplica = (server: FakeApiServer, identity: string, ttlMs: number) =>
    startReplicaOn(clock, server, identity, ttlMs);

  it("one replica leads and hands over at once when it is stopped", async () => {
    const server = await startLeaseServer();
    const a = await startReplica(server, "a", 60_000);
    await a.until(true);
    const b = await startReplica(server, "b", 60_000);
    await a.stop();
    expect(a.state.leading).to.equal(false);
    await b.until(true);
    // The other replica may acquire the lease before the first one has ended.
    expect(server.holders).to.deep.equal(["a", "", "b"]);
    await b.stop();
    await server.close();
  });

  it("a lease that is no longer renewed is taken over", async () => {
    const server = await startLeaseServer();
    server.lease = { metadata: { resourceVersion: "0" }, spec: { holderIdentity: "dead" } };
    const b = await startReplica(server, "b", 300);
    await b.until(true);
    await b.stop();
    await server.close();
  });

  it("a replica stops leading while it cannot renew the lease, and leads again later", async () => {
    const server = await startLeaseServer();
    const a = await startReplica(server, "a", 300);
    await a.until(true);
    server.broken = true;
    await a.until(false);
    server.broken = false;
    await a.until(true);
    await a.stop();
    await server.close();
  });

  it("a replica stops leading before the lease ends when the API server does not answer", async () => {
    const server = await startLeaseServer();
    const a = await startReplica(server, "a", 900);
    await a.until(true);
    server.silent = true;
    const b = await startReplica(server, "b", 900);
    await a.until(false);
    expect(b.state.leading).to.equal(false);
    server.silent = false;
    await b.stop();
    await a.stop();
    await server.close();
  });

  it("a stopped replica resigns at once, even during a call", async () => {
    const server = await startLeaseServer();
    const a = await startReplica(server, "a", 300);
    await a.until(true);
    server.silent = true;
    const stopping = a.stop();
    expect(a.state.leading).to.equal(false);
    server.silent = false;
    await stopping;
    await server.close();
  });

  it("a deleted lease is created again", async () => {
    const server = await startLeaseServer();
    const a = await startReplica(server, "a", 300);
    await a.until(true);
    server.lease = undefined;
    await until(() => server.lease?.spec.holderIdentity === "a", "a new lease");
    await a.stop();
    await server.close();
  });
});
