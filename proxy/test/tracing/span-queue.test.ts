import { expect } from "chai";
import { nothingRefused, SpanQueue, type SpanQueueOptions } from "../../src/tracing/export/span-queue.ts";
import type { HeldSpans } from "../../src/tracing/export/span-memory.ts";

/** Names of spans whose memory has been released. */
const released: string[] = [];

const line = (...names: readonly string[]): HeldSpans => ({
  count: names.length,
  bytes: Buffer.from(names.join(" ")),
  lease: { release: () => void released.push(...names) },
});

type Sent = { readonly names: readonly string[]; readonly finish: (failure?: string) => void };

function setUp(options: Partial<SpanQueueOptions> = {}) {
  const sent: Sent[] = [];
  const dropped: [number, string, string][] = [];
  let exported = 0;
  const queue = new SpanQueue({
    send: (batch) =>
      new Promise((resolve) => {
        const names = batch.flatMap(({ bytes }) => bytes.toString().split(" "));
        sent.push({
          names,
          finish: (why) => resolve(why === undefined ? nothingRefused : { spans: Infinity, why }),
        });
      }),
    timeoutMs: 60_000,
    gatherMs: 0,
    maxQueued: 4,
    maxBatch: 2,
    onExported: (spans) => (exported += spans),
    onDropped: (...call) => void dropped.push(call),
    ...options,
  });
  return { queue, sent, dropped, exported: () => exported };
}

const turns = async (until: () => boolean): Promise<void> => {
  while (!until()) await new Promise((resolve) => setImmediate(resolve));
};

describe("the queue of spans", () => {
  beforeEach(() => {
    released.length = 0;
  });

  it("spans release their memory when they have been sent, and those without room at once", async () => {
    const { queue, sent } = setUp();
    for (const name of ["a", "b"]) queue.add(line(name));
    await turns(() => sent.length === 1);
    for (const name of ["c", "d", "e", "f", "g"]) queue.add(line(name));
    expect(released).to.deep.equal(["g"]);
    sent[0]?.finish();
    await turns(() => sent.length === 2);
    expect(released).to.deep.equal(["g", "a", "b"]);
    sent[1]?.finish("connection refused");
    await turns(() => sent.length === 3);
    expect(released).to.deep.equal(["g", "a", "b", "c", "d"]);
    sent[2]?.finish();
    await queue.drain();
  });

  it("spans of a batch that is given up keep their memory while they may be read", async () => {
    const { queue, sent, dropped } = setUp({ timeoutMs: 1 });
    queue.add(line("a", "b"));
    await turns(() => dropped.length === 1);
    expect(released).to.deep.equal([]);
    sent[0]?.finish();
    await turns(() => released.length === 2);
  });

  it("spans leave in batches, one batch at a time", async () => {
    const { queue, sent, exported } = setUp();
    for (const name of ["a", "b", "c"]) queue.add(line(name));
    await turns(() => sent.length === 1);
    expect(sent[0]?.names).to.deep.equal(["a", "b"]);
    sent[0]?.finish();
    await turns(() => sent.length === 2);
    expect(sent[1]?.names).to.deep.equal(["c"]);
    sent[1]?.finish();
    await turns(() => exported() === 3);
  });

  it("a small batch leaves after a while", async () => {
    const { queue, sent } = setUp();
    queue.add(line("a"));
    await turns(() => sent.length === 1);
    sent[0]?.finish();
    await queue.drain();
  });

  it("spans that find no room while the collector is slow are dropped and counted", async () => {
    const { queue, sent, dropped } = setUp();
    for (const name of ["a", "b"]) queue.add(line(name));
    await turns(() => sent.length === 1);
    for (const name of ["c", "d", "e", "f", "g"]) queue.add(line(name));
    expect(dropped).to.deep.equal([[1, "queue-full", "too many spans wait for the collector"]]);
    sent[0]?.finish();
    await turns(() => sent.length === 2);
    expect(sent[1]?.names).to.deep.equal(["c", "d"]);
    sent[1]?.finish();
    await turns(() => sent.length === 3);
    sent[2]?.finish();
    await queue.drain();
  });

  it("a batch that fails is dropped and counted, and the next one is tried", async () => {
    const { queue, sent, dropped } = setUp();
    queue.add(line("a", "b"));
    await turns(() => sent.length === 1);
    sent[0]?.finish("connection refused");
    await turns(() => dropped.length === 1);
    expect(dropped).to.deep.equal([[2, "export-failed", "connection refused"]]);
    queue.add(line("c"));
    await turns(() => sent.length === 2);
    sent[1]?.finish();
    await queue.drain();
  });

  it("a collector that never answers is given up", async () => {
    const { queue, dropped } = setUp({ timeoutMs: 1 });
    queue.add(line("a", "b"));
    await turns(() => dropped.length === 1);
    expect(dropped[0]?.slice(0, 2)).to.deep.equal([2, "export-failed"]);
  });

  it("a request with more spans than a batch has is sent whole", async () => {
    const { queue, sent } = setUp();
    queue.add(line("a", "b", "c"));
    await turns(() => sent.length === 1);
    expect(sent[0]?.names).to.have.lengthOf(3);
    sent[0]?.finish();
    await queue.drain();
  });
});
