import { mock } from "node:test";
import { expect } from "chai";
import { type NameService, systemNames } from "../../src/upstream/name-service.ts";
import { type Addresses, createResolver, type NameOutcome } from "../../src/upstream/resolver.ts";
import {
  type DnsRecord,
  type DnsReply,
  type NameServer,
  noSuchName,
  serverFailure,
  startNameServer,
} from "./name-server.ts";

const hourMs = 3_600_000;
const v6 = "20010db8:00000000:00000000:00000001";

/** A record of `a.test`. */
const record = (type: "A" | "AAAA" | "CNAME", data: string, ttl = 30, name = "a.test"): DnsRecord => ({
  name,
  type,
  ttl,
  data,
});

describe("names of endpoints, answered by a real name server", () => {
  let server: NameServer;
  let nowMs: number;
  let outcomes: NameOutcome[];
  let lookup: NameService["lookup"];
  let resolve: () => Promise<Addresses | "unresolved">;
  let lastKnown: () => Addresses | undefined;

  beforeEach(async () => {
    server = await startNameServer();
    // The time after which callers no longer wait for an answer passes when a test says so.
    mock.timers.enable({ apis: ["setTimeout"] });
    nowMs = 1_000_000;
    // A query of the test before, which nothing has answered, may end in this one.
    const own: NameOutcome[] = [];
    outcomes = own;
    lookup = () => Promise.reject(Object.assign(new Error("none"), { code: "ENOTFOUND" }));
    const resolver = createResolver({
      names: { ...systemNames([server.address]), lookup: (name) => lookup(name) },
      now: () => nowMs,
      onQuery: (outcome) => own.push(outcome),
    });
    resolve = () =>
      new Promise((done) =>
        resolver.resolve("a.test", (found) => done(found.ok ? found.value : found.error)),
      );
    lastKnown = () => resolver.lastKnown("a.test");
  });

  afterEach(() => {
    // A timer that is cleared after the reset would remove one of the next test.
    mock.timers.runAll();
    mock.timers.reset();
    server.close();
  });

  /** Answers queries for A and AAAA; the latter with no record unless it is given. */
  const serve = (a: DnsReply, aaaa: DnsReply = {}): void => {
    server.answer = (_, type) => (type === "A" ? a : aaaa);
  };
  const addresses = (...list: string[]): DnsReply => ({ records: list.map((one) => record("A", one)) });

  it("an answer that changes is used when the one before it has expired", async () => {
    serve(addresses("192.0.2.1"));
    expect(await resolve()).to.deep.equal(["192.0.2.1"]);
    serve(addresses("192.0.2.2", "192.0.2.3"));
    nowMs += 29_999;
    expect(await resolve()).to.deep.equal(["192.0.2.1"]);
    nowMs += 1;
    expect(await resolve()).to.have.members(["192.0.2.2", "192.0.2.3"]);
    expect(outcomes).to.deep.equal(["answered", "answered"]);
  });

  for (const [ttl, keptMs] of [
    [0, 5_000],
    [2_147_483_647, 60_000],
  ] as const) {
    it(`an answer with a time to live of ${ttl} s is queried again after ${keptMs} ms`, async () => {
      serve({ records: [record("A", "192.0.2.1", ttl)] });
      await resolve();
      serve({ records: [record("A", "192.0.2.2", ttl)] });
      nowMs += keptMs - 1;
      expect(await resolve()).to.deep.equal(["192.0.2.1"]);
      nowMs += 1;
      expect(await resolve()).to.deep.equal(["192.0.2.2"]);
    });
  }

  it("a chain of CNAMEs leads to its addresses, which are kept for the shortest time to live in it", async () => {
    const chain = [
      record("CNAME", "b.test", 300),
      record("CNAME", "c.test", 10, "b.test"),
      record("A", "192.0.2.1", 300, "c.test"),
    ];
    serve({ records: chain });
    expect(await resolve()).to.deep.equal(["192.0.2.1"]);
    serve(addresses("192.0.2.2"));
    nowMs += 10_000;
    expect(await resolve()).to.deep.equal(["192.0.2.2"]);
  });

  it("a name that has only IPv6 addresses is resolved to them", async () => {
    serve({}, { records: [record("AAAA", v6)] });
    expect(await resolve()).to.deep.equal(["2001:db8::1"]);
  });

  it("a name with many addresses is resolved to 16 of them", async () => {
    serve(addresses(...Array.from({ length: 25 }, (_, i) => `192.0.2.${i}`)));
    expect(await resolve()).to.have.length(16);
  });

  for (const [what, reply] of [
    ["SERVFAIL", serverFailure],
    ["REFUSED", { code: 5 }],
  ] as const) {
    it(`the last addresses are used for an hour while the name server answers ${what}`, async () => {
      serve(addresses("192.0.2.1"));
      await resolve();
      serve(reply, reply);
      nowMs += 30_000;
      expect(await resolve()).to.deep.equal(["192.0.2.1"]);
      expect(lastKnown()).to.deep.equal(["192.0.2.1"]);
      expect(outcomes).to.deep.equal(["answered", "failed"]);
      nowMs += hourMs - 30_001;
      expect(await resolve()).to.deep.equal(["192.0.2.1"]);
      nowMs += 5_001;
      expect(await resolve()).to.equal("unresolved");
    });
  }

  it("the last addresses are used, without a wait for each connection, while the name server does not answer", async () => {
    serve(addresses("192.0.2.1"));
    await resolve();
    serve(undefined, undefined);
    nowMs += 30_000;
    const first = resolve();
    mock.timers.tick(1_000);
    expect(await first).to.deep.equal(["192.0.2.1"]);
    // The query is still under way: later callers need not wait for it.
    expect(outcomes).to.deep.equal(["answered"]);
    expect(await resolve()).to.deep.equal(["192.0.2.1"]);
    expect(outcomes).to.deep.equal(["answered"]);
  });

  it("the first answer after a failure is used", async () => {
    serve(addresses("192.0.2.1"));
    await resolve();
    serve(serverFailure, serverFailure);
    nowMs += 30_000;
    await resolve();
    serve(addresses("192.0.2.2"));
    nowMs += 5_000;
    // The last addresses are used at once, and the query is still under way.
    expect(await resolve()).to.deep.equal(["192.0.2.1"]);
    while (outcomes.length < 3) await new Promise((done) => setImmediate(done));
    expect(await resolve()).to.deep.equal(["192.0.2.2"]);
    expect(outcomes).to.deep.equal(["answered", "failed", "answered"]);
  });

  it("addresses are no longer used as soon as the name server says that the name does not exist", async () => {
    serve(addresses("192.0.2.1"));
    await resolve();
    serve(noSuchName, noSuchName);
    nowMs += 30_000;
    expect(await resolve()).to.equal("unresolved");
    expect(lastKnown()).to.deep.equal([]);
    expect(outcomes).to.deep.equal(["answered", "denied"]);
  });

  it("the IPv4 addresses of a name are kept while only the query for them fails", async () => {
    serve(addresses("192.0.2.1"), { records: [record("AAAA", v6)] });
    expect(await resolve()).to.deep.equal(["192.0.2.1", "2001:db8::1"]);
    serve(serverFailure, { records: [record("AAAA", v6)] });
    nowMs += 30_000;
    expect(await resolve()).to.deep.equal(["192.0.2.1", "2001:db8::1"]);
  });

  it("the addresses of a name whose queries for IPv6 always fail follow the answers for IPv4", async () => {
    serve(addresses("192.0.2.1"), serverFailure);
    expect(await resolve()).to.deep.equal(["192.0.2.1"]);
    serve(addresses("192.0.2.2"), serverFailure);
    nowMs += 5_000;
    await resolve();
    while (outcomes.length < 2) await new Promise((done) => setImmediate(done));
    expect(await resolve()).to.deep.equal(["192.0.2.2"]);
  });

  it("a name that was never resolved has no address while the name server fails", async () => {
    serve(serverFailure, serverFailure);
    expect(await resolve()).to.equal("unresolved");
    expect(lastKnown()).to.equal(undefined);
  });

  it("a failure is kept for a second, so that requests for a name without address do not flood the name server", async () => {
    serve(noSuchName, noSuchName);
    for (let i = 0; i < 10; i++) expect(await resolve()).to.equal("unresolved");
    expect(server.asked.sort()).to.deep.equal(["A a.test", "AAAA a.test"]);
    serve(addresses("192.0.2.1"));
    nowMs += 1_000;
    expect(await resolve()).to.deep.equal(["192.0.2.1"]);
  });
});
