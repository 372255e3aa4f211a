import { expect } from "chai";
import fc from "fast-check";
import { mappingOf } from "../../../src/translate/gateway/scopes/ports.ts";
import { settle } from "../../support/test-clock.ts";
import {
  createReplica,
  createSlowServer,
  strayClients,
  type HeldWrite,
  type Replica,
  type SlowServer,
} from "./vip-ports-rig.ts";

const heldOf = (server: SlowServer): readonly string[] =>
  server.held.map(({ name, ports }) => `${name} ${ports.join(" ")}`);

const portsOf = (server: SlowServer): readonly number[] =>
  [...server.services.values()].flatMap((service) => [...mappingOf(service).values()]);

async function store(write: HeldWrite | undefined): Promise<void> {
  write?.store();
  await settle();
}

describe("internal ports of Services that are written slowly", () => {
  it("a Gateway that is sorted before another one gets no port whose write is under way", async () => {
    const server = createSlowServer();
    const replica = createReplica(server);
    await replica.lead();
    await replica.observeGateway("zz");
    expect(heldOf(server)).to.deep.equal(["zz 30000"]);
    await replica.observeGateway("ww");
    expect(heldOf(server)).to.deep.equal(["zz 30000"]);
    await store(server.held[0]);
    expect(strayClients(server, [replica])).to.deep.equal([]);
    await replica.observeService();
    expect(heldOf(server)).to.deep.equal(["ww 30001"]);
    await store(server.held[0]);
    await replica.observeService();
    expect(replica.served()).to.deep.equal(
      new Map([
        [30_000, "zz"],
        [30_001, "ww"],
      ]),
    );
    expect([...replica.events, ...server.faults]).to.deep.equal([]);
  });

  it("a new leader gives no Gateway a port that a Service has which it has not observed", async () => {
    const server = createSlowServer();
    const [first, second] = [createReplica(server), createReplica(server)];
    await first.lead();
    await first.observeGateway("zz");
    await store(server.held[0]);
    await first.resign();
    for (const name of ["ww", "zz"]) await second.observeGateway(name);
    await second.lead();
    expect(heldOf(server)).to.deep.equal([]);
    await second.observeService();
    expect(heldOf(server)).to.deep.equal(["ww 30001"]);
    await store(server.held[0]);
    expect([...second.events, ...server.faults]).to.deep.equal([]);
  });

  it("a port whose write was refused goes to the next Gateway at once", async () => {
    const server = createSlowServer();
    const replica = createReplica(server);
    await replica.lead();
    await replica.observeGateway("zz");
    await replica.observeGateway("ww");
    server.held[0]?.fail(403);
    await settle();
    expect(heldOf(server)).to.deep.equal(["ww 30000", "zz 30001"]);
    await replica.resign();
  });

  it("a port whose write got no answer is kept for a minute, because it may be stored late", async () => {
    const server = createSlowServer();
    const replica = createReplica(server);
    await replica.lead();
    await replica.observeGateway("zz");
    await replica.observeGateway("ww");
    const [write] = server.held;
    write?.fail(0);
    await replica.clock.advance(30_000);
    expect(heldOf(server)).to.deep.equal(["zz 30001"]);
    write?.storeLate();
    await replica.observeService();
    expect(replica.served().get(30_000)).to.equal("zz");
    await replica.clock.advance(120_000);
    expect(heldOf(server).filter((one) => one.endsWith(" 30000"))).to.deep.equal([]);
    await replica.resign();
  });

  it("a port whose write got no answer and was never stored goes to the next Gateway after a minute", async () => {
    const server = createSlowServer();
    const replica = createReplica(server);
    await replica.lead();
    await replica.observeGateway("zz");
    await replica.observeGateway("ww");
    server.held[0]?.fail(504);
    await replica.clock.advance(75_000);
    expect(heldOf(server)).to.deep.equal(["zz 30001", "ww 30000"]);
    await replica.resign();
  });

  it("twenty Gateways applied at once share no port and move none, in any order of arrival and after a change of leader", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `g${String(index).padStart(2, "0")}`);
    const order = fc.shuffledSubarray(names, { minLength: names.length });
    const choices = fc.array(fc.nat(1_000_000), { minLength: 60, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(order, order, choices, fc.integer({ min: 5, max: 50 }), async (...given) => {
        const [firstOrder, secondOrder, steps, takeOverAt] = given;
        const server = createSlowServer();
        const replicas = [createReplica(server), createReplica(server)] as const;
        const waiting = [[...firstOrder], [...secondOrder]];
        const check = (): void => {
          expect([...server.faults, ...strayClients(server, replicas)]).to.deep.equal([]);
          for (const { events } of replicas) expect([...events]).to.deep.equal([]);
        };
        const next = async (choice: number): Promise<void> => {
          const moves = [
            ...replicas.flatMap((replica, index) => movesOf(replica, waiting[index] ?? [])),
            ...server.held.map((write) => () => store(write)),
          ];
          await moves[choice % moves.length]?.();
          // The queue admits more work as time passes. All steps take less than one resync.
          for (const { clock } of replicas) await clock.advance(50);
          check();
        };
        await replicas[0].lead();
        for (const [index, choice] of steps.entries()) {
          if (index === takeOverAt) {
            // Of the former leader's writes, some are carried out and the others are lost.
            for (const [place, write] of [...server.held].entries()) {
              if (((choice >> place) & 1) === 0) write.storeLate();
              write.fail(0);
            }
            await replicas[0].resign();
            await replicas[1].lead();
          }
          await next(choice);
        }
        while (waiting.flat().length > 0 || server.held.length > 0 || replicas.some((one) => one.isBehind()))
          await next(0);
        await replicas[1].resign();
        expect(portsOf(server)).to.have.length(names.length);
        expect([...replicas[1].served().values()].sort()).to.deep.equal(names);
        expect(replicas[0].version()).to.equal(replicas[1].version());
      }),
      { numRuns: 12 },
    );
  });
});

/** The next Gateway and the next Service that a replica can observe. */
const movesOf = (replica: Replica, waiting: string[]): readonly (() => Promise<void>)[] => [
  ...(waiting.length > 0 ? [() => replica.observeGateway(waiting.shift() ?? "")] : []),
  ...(replica.isBehind() ? [() => replica.observeService()] : []),
];
