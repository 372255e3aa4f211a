import { expect } from "chai";
import { ConnectionGate } from "../../src/listeners/connection-gate.ts";
import { answer, eventually, statusesOf } from "../http/h1/harness.ts";
import { connect, http, plan, request, startManager, stopManagers } from "./harness.ts";

describe("the listener manager: limits", () => {
  afterEach(stopManagers);

  it("connections beyond the limit of all listeners are closed", async () => {
    const started = startManager({ gate: new ConnectionGate(2) });
    await started.manager.apply(plan([http(80), http(81)]));
    const first = await connect(started);
    await connect(started, 81);
    const third = await connect(started, 81);
    await third.untilEnd();
    expect(started.events.of("refused")).to.include("refused 81 connections");
    first.socket.destroy();
    await eventually(() => started.events.of("closed").length === 1);
    const fourth = await connect(started);
    fourth.send(request);
    await eventually(() => started.seen.length === 1);
  });

  it("connections beyond the limit of their listener are closed, also when the limit changes", async () => {
    const gate = new ConnectionGate(3);
    const started = startManager({ gate, maxConnections: 2 });
    await started.manager.apply(plan([{ ...http(80), maxConnections: 1 }, http(81)]));
    const first = await connect(started);
    await eventually(() => started.events.of("opened").length === 1);
    await (await connect(started)).untilEnd();
    await connect(started, 81);
    await eventually(() => started.events.of("opened").length === 2);
    await started.manager.apply(plan([http(80), http(81)]));
    const second = await connect(started);
    await eventually(() => started.events.of("opened").length === 3);
    await (await connect(started)).untilEnd();
    expect(started.events.of("refused")).to.deep.equal([
      "refused 80 listener-connections",
      "refused 80 connections",
    ]);
    first.socket.destroy();
    second.socket.destroy();
    await eventually(() => started.events.of("closed").length === 2);
    const later = [await connect(started), await connect(started)];
    await eventually(() => started.events.of("opened").length === 5);
    for (const { socket } of later) socket.destroy();
    await eventually(() => started.events.of("closed").length === 4);
    await connect(started, 81);
    await eventually(() => started.events.of("opened").length === 6);
    await (await connect(started, 81)).untilEnd();
    expect(started.events.of("refused").at(-1)).to.equal("refused 81 listener-connections");
  });

  it("a connection that stays silent is closed", async () => {
    const started = startManager({ firstByteTimeoutMs: 30 });
    await started.manager.apply(plan([http(80)]));
    const client = await connect(started);
    expect(await client.untilEnd()).to.equal("");
    expect(started.events.of("first-byte-timeout")).to.have.length(1);
  });

  it("an unfinished method is passed to the HTTP/1 front", async () => {
    const started = startManager({ firstByteTimeoutMs: 1_000 }, (_, _head, client) => answer(client));
    await started.manager.apply(plan([http(80)]));
    const client = await connect(started);
    client.send("PR");
    const silent = await connect(started);
    await silent.untilEnd();
    client.send("OPFIND / HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(statusesOf(await client.until(/hello$/))).to.deep.equal(["200"]);
  });

  it("a client that leaves before its first byte frees its connection", async () => {
    const started = startManager();
    await started.manager.apply(plan([http(80)]));
    const client = await connect(started);
    await eventually(() => started.events.of("opened").length === 1);
    client.socket.end();
    await eventually(() => started.events.of("closed").length === 1);
  });
});
