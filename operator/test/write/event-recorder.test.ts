import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import type { ObjectEvent } from "../../src/write/event-object.ts";
import { createEventRecorder } from "../../src/write/event-recorder.ts";
import { createFakeClient, type FakeCall } from "../support/fake-client.ts";
import { createTestClock } from "../support/test-clock.ts";

type StoredEvent = {
  readonly metadata: { readonly name: string };
  readonly series?: { readonly count: number };
};

const startMs = Date.parse("2026-03-01T12:00:00Z");

const conflict = (name: string, message: string = "shadowed"): ObjectEvent => ({
  regarding: {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    namespace: "ns",
    name,
    uid: `uid-${name}`,
  },
  type: "Warning",
  reason: "RouteConflict",
  message,
});

/** A store of Events and a recorder on it; `fail` answers calls in its place. */
function setUp(options: { maxEvents?: number } = {}) {
  const clock = createTestClock();
  const abort = new AbortController();
  const stored = new Map<string, StoredEvent>();
  const state: { fail: (call: FakeCall) => number | undefined } = { fail: () => undefined };
  const client = createFakeClient((call) => {
    const forced = state.fail(call);
    if (forced !== undefined) return forced;
    if (call.method === "POST") {
      const event = call.body as StoredEvent;
      if (stored.has(event.metadata.name)) return 409;
      stored.set(event.metadata.name, event);
      return event;
    }
    const name = call.path.split("/").at(-1) ?? "";
    const event = stored.get(name);
    if (event === undefined) return 404;
    if (call.method !== "PATCH") return event;
    stored.set(name, { ...event, ...(call.body as object) });
    return {};
  });
  const create = (signal: AbortSignal = abort.signal) =>
    createEventRecorder({
      client,
      source: { controller: "svc-labs.dev/gateway-controller", instance: "ctl-0" },
      log: silentLogger,
      signal,
      clock,
      nowMs: () => startMs + clock.nowMs(),
      ...options,
    });
  return {
    clock,
    abort,
    client,
    state,
    stored,
    create,
    recorder: create(),
    counts: () => [...stored.values()].map(({ series }) => series?.count ?? 1),
    writes: () => client.calls.filter(({ method }) => method !== undefined).length,
  };
}

describe("createEventRecorder", () => {
  it("one Event is created per object, reason and message", async () => {
    const { recorder, clock, stored, client } = setUp();
    recorder.sync([conflict("a"), conflict("b"), conflict("a", "other")]);
    await clock.advance(0);
    expect(stored.size).to.equal(3);
    expect(client.calls[0]?.path).to.equal("/apis/events.k8s.io/v1/namespaces/ns/events");
    expect([...stored.values()][0]).to.deep.include({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      eventTime: "2026-03-01T12:00:00.000000Z",
      reportingController: "svc-labs.dev/gateway-controller",
      reportingInstance: "ctl-0",
      action: "Reconcile",
      reason: "RouteConflict",
      type: "Warning",
      note: "shadowed",
      regarding: conflict("a").regarding,
    });
  });

  it("the count of a lasting Event rises at most once a minute", async () => {
    const { recorder, clock, counts, writes } = setUp();
    for (let second = 0; second <= 125; second++) {
      recorder.sync([conflict("a")]);
      await clock.advance(1000);
    }
    expect(counts()).to.deep.equal([3]);
    expect(writes()).to.equal(3);
  });

  it("a single repeat is sent when its minute is over", async () => {
    const { recorder, clock, counts } = setUp();
    recorder.sync([conflict("a")]);
    await clock.advance(1000);
    recorder.sync([conflict("a")]);
    await clock.advance(58_999);
    expect(counts()).to.deep.equal([1]);
    await clock.advance(1);
    expect(counts()).to.deep.equal([2]);
    await clock.advance(600_000);
    expect(counts(), "no repeat, no count").to.deep.equal([2]);
  });

  it("an Event that was resolved and returns is sent soon", async () => {
    const { recorder, clock, counts, stored } = setUp();
    recorder.sync([conflict("a")]);
    await clock.advance(10_000);
    recorder.sync([]);
    await clock.advance(1000);
    recorder.sync([conflict("a")]);
    await clock.advance(0);
    expect(counts()).to.deep.equal([2]);
    stored.clear();
    recorder.sync([]);
    recorder.sync([conflict("a")]);
    await clock.advance(5000);
    expect(counts(), "created anew when somebody has deleted it").to.deep.equal([1]);
  });

  it("a repeat that is resolved before its minute is over is not sent", async () => {
    const { recorder, clock, counts } = setUp();
    recorder.sync([conflict("a")]);
    await clock.advance(1000);
    recorder.sync([conflict("a")]);
    recorder.sync([]);
    await clock.advance(600_000);
    expect(counts()).to.deep.equal([1]);
  });

  it("a flickering condition is sent at a limited rate", async () => {
    const { recorder, clock, writes } = setUp();
    for (let turn = 0; turn < 100; turn++) {
      recorder.sync([conflict("a")]);
      await clock.advance(100);
      recorder.sync([]);
      await clock.advance(100);
    }
    expect(writes()).to.be.at.most(1 + 20_000 / 5_000);
  });

  it("each occurrence of a recorded Event is counted", async () => {
    const { recorder, clock, counts } = setUp();
    recorder.record(conflict("a"));
    await clock.advance(0);
    for (let time = 0; time < 5; time++) recorder.record(conflict("a"));
    await clock.advance(59_999);
    expect(counts()).to.deep.equal([1]);
    await clock.advance(1);
    expect(counts()).to.deep.equal([6]);
  });

  it("the Event of another process is continued", async () => {
    const { recorder, clock, counts, create, abort } = setUp();
    recorder.sync([conflict("a")]);
    await clock.advance(30_000);
    abort.abort();
    const next = create(new AbortController().signal);
    next.sync([conflict("a")]);
    await clock.advance(29_999);
    expect(counts(), "its minute is not over").to.deep.equal([1]);
    await clock.advance(1);
    expect(counts()).to.deep.equal([2]);
  });

  it("an expired Event is created again", async () => {
    const { recorder, clock, counts, stored } = setUp();
    recorder.sync([conflict("a")]);
    await clock.advance(60_000);
    stored.clear();
    recorder.sync([conflict("a")]);
    await clock.advance(0);
    expect(counts()).to.deep.equal([1]);
  });

  it("an object that was recreated gets another Event", async () => {
    const { recorder, clock, stored } = setUp();
    recorder.sync([conflict("a")]);
    await clock.advance(0);
    const again = conflict("a");
    recorder.sync([{ ...again, regarding: { ...again.regarding, uid: "new" } }]);
    await clock.advance(0);
    expect(stored.size).to.equal(2);
  });

  it("an error of the API server is retried, a rejection is not", async () => {
    const { recorder, clock, client, state, stored } = setUp();
    state.fail = () => 500;
    recorder.sync([conflict("a")]);
    await clock.advance(0);
    state.fail = () => undefined;
    await clock.advance(1000);
    expect(stored.size).to.equal(1);
    state.fail = () => 403;
    recorder.sync([conflict("b")]);
    await clock.advance(0);
    const calls = client.calls.length;
    await clock.advance(600_000);
    expect(client.calls).to.have.length(calls);
  });

  it("an Event of a cluster-scoped object is in the namespace default, and a long note is cut between characters", async () => {
    const { recorder, clock, client, stored } = setUp();
    recorder.record({
      regarding: { apiVersion: "networking.k8s.io/v1", kind: "IngressClass", name: "x".repeat(253) },
      type: "Normal",
      reason: "Test",
      message: "ü".repeat(1000),
    });
    await clock.advance(0);
    expect(client.calls[0]?.path).to.equal("/apis/events.k8s.io/v1/namespaces/default/events");
    const [[name, event]] = [...stored] as [[string, StoredEvent & { note: string }]];
    expect(name.length).to.be.at.most(253);
    expect(Buffer.byteLength(event.note)).to.be.at.most(1024);
    expect(event.note).to.match(/^ü+…$/);
  });

  it("the number of remembered Events is limited, and current ones are preferred", async () => {
    const { recorder, clock, stored } = setUp({ maxEvents: 2 });
    recorder.sync([conflict("a"), conflict("b"), conflict("c")]);
    await clock.advance(0);
    expect(stored.size).to.equal(2);
    recorder.sync([conflict("b"), conflict("c")]);
    await clock.advance(0);
    expect([...stored.keys()].map((name) => name.split(".")[0])).to.deep.equal(["a", "b", "c"]);
  });

  it("the rate of writes is limited", async () => {
    const { recorder, clock, writes } = setUp();
    recorder.sync(Array.from({ length: 500 }, (_, index) => conflict(`i${index}`)));
    await clock.advance(0);
    expect(writes()).to.equal(50);
    await clock.advance(1000);
    expect(writes()).to.equal(60);
  });

  it("no Event is sent after the signal", async () => {
    const { recorder, clock, abort, client } = setUp();
    recorder.sync([conflict("a")]);
    await clock.advance(0);
    const calls = client.calls.length;
    recorder.sync([conflict("a")]);
    abort.abort();
    recorder.sync([conflict("b")]);
    recorder.record(conflict("c"));
    await clock.advance(600_000);
    expect(client.calls).to.have.length(calls);
  });

  const eventOf = (namespace: string, index: number): ObjectEvent => ({
    ...conflict(`i${index}`),
    regarding: { ...conflict(`i${index}`).regarding, namespace },
  });

  it("the Event of a quiet namespace is sent while another namespace has thousands waiting", async () => {
    const { create, stored, clock } = setUp();
    const recorder = create();
    recorder.sync([
      ...Array.from({ length: 7000 }, (_, index) => eventOf("noisy", index)),
      eventOf("quiet", 1),
    ]);
    await clock.advance(1);
    const names = [...stored.values()].map(
      (event) => (event as unknown as { regarding: { namespace: string } }).regarding.namespace,
    );
    expect(names.length).to.be.lessThan(100);
    expect(names).to.include("quiet");
    const first = eventOf("late", 1);
    recorder.record(first);
    await clock.advance(2000);
    expect(
      [...stored.values()].some(
        (event) => (event as unknown as { regarding: { namespace: string } }).regarding.namespace === "late",
      ),
    ).to.equal(true);
  });

  it("an Event of the namespace with the most Events is evicted first", async () => {
    const { create, stored, clock } = setUp({ maxEvents: 20 });
    const recorder = create();
    recorder.sync(Array.from({ length: 20 }, (_, index) => eventOf("noisy", index)));
    recorder.record(eventOf("quiet", 1));
    await clock.advance(60_000);
    const namespaces = [...stored.values()].map(
      (event) => (event as unknown as { regarding: { namespace: string } }).regarding.namespace,
    );
    expect(namespaces).to.include("quiet");
  });
});
