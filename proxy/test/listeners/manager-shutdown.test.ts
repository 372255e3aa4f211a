import { expect } from "chai";
import { ownLoopback } from "../../../common/test/own-loopback.ts";
import { describeCodecs } from "../http1-codecs.ts";
import { connect as connectHttp2 } from "node:http2";
import { emptyPortTable } from "../../src/routing/changing-port-table.ts";
import { readEnd } from "../end-reader.ts";
import { answer, eventually, RawClient } from "../http/h1/harness.ts";
import { closeLater, connect, http, plan, request, startManager, stopManagers } from "./harness.ts";
import { Fields } from "../../src/message/fields.ts";

describeCodecs("the listener manager: shutdown", () => {
  afterEach(stopManagers);

  const soon = { acceptMs: 40, graceMs: 60_000, timeoutMs: 0 };

  it("a shutdown accepts connections for a while and asks clients to close", async () => {
    const started = startManager();
    await started.manager.apply(plan([http(80)]));
    const [busy, idle] = [await connect(started), await connect(started)];
    busy.send(request);
    await eventually(() => started.seen.length === 1 && started.events.of("opened").length === 2);
    const down = started.manager.shutdown({ ...soon, acceptMs: 60_000 }, AbortSignal.timeout(60_000));
    const late = await connect(started);
    late.send(request);
    await eventually(() => started.seen.length === 2);
    answer(started.seen[1]?.client as never);
    expect(await late.untilEnd()).to.match(/Connection: close\r\n[^]*hello$/);
    expect(idle.ended).to.equal(false);
    void down;
  });

  it("a listener follows route changes during a shutdown, and opens no socket", async () => {
    const started = startManager();
    await started.manager.apply(plan([http(80)]));
    void started.manager.shutdown({ ...soon, acceptMs: 60_000 }, AbortSignal.timeout(60_000));
    const next = plan([http(80), http(81)], { table: { ...emptyPortTable } });
    await started.manager.apply(next);
    const late = await connect(started);
    late.send(request);
    await eventually(() => started.seen.length === 1);
    expect(started.seen[0]?.connection.listener.table).to.equal(next.tables.get(80));
    expect(started.manager.boundPorts()).to.deep.equal([80]);
  });

  it("a shutdown closes idle connections when it stops accepting, and resolves after the last response", async () => {
    // No other process gets the port when it is free.
    const started = startManager({ bindAddress: ownLoopback });
    await started.manager.apply(plan([http(80)]));
    const port = started.manager.localPort(80) as number;
    const [busy, idle] = [await connect(started), await connect(started)];
    busy.send(request);
    await eventually(() => started.seen.length === 1 && started.events.of("opened").length === 2);
    let done = false;
    const down = started.manager.shutdown(soon, new AbortController().signal).then(() => (done = true));
    expect(await idle.untilEnd()).to.equal("");
    const late = await RawClient.connect(port, ownLoopback).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(late).to.equal("ECONNREFUSED");
    expect(done).to.equal(false);
    answer(started.seen[0]?.client as never);
    expect(await busy.untilEnd()).to.match(/Connection: close\r\n[^]*hello$/);
    busy.socket.destroy();
    await down;
    expect(started.events.of("cut")).to.deep.equal([]);
  });

  it("a shutdown cuts and counts requests that are left at its end", async () => {
    const started = startManager();
    await started.manager.apply(plan([http(80)]));
    const busy = await connect(started);
    busy.send(request);
    await eventually(() => started.seen.length === 1);
    await started.manager.shutdown(
      { acceptMs: 10, graceMs: 20, timeoutMs: 10 },
      new AbortController().signal,
    );
    expect(started.events.of("cut")).to.deep.equal(["cut shutdown 1"]);
  });

  it("a shutdown lets WebSockets continue until its end, then cuts and counts them", async () => {
    const started = startManager({}, (_, _head, client) => {
      const transport = client.upgrade(Fields.of([]))?.transport;
      if (transport !== undefined) readEnd(transport, (text) => transport.writeText(text));
    });
    await started.manager.apply(plan([http(80)]));
    const [client, idle] = [await connect(started), await connect(started)];
    client.send(request.replace("\r\n\r\n", "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
    await client.until(/101/);
    const hurry = new AbortController();
    const down = started.manager.shutdown(soon, hurry.signal);
    await idle.untilEnd();
    client.send("still here");
    await client.until(/still here/);
    hurry.abort();
    await down;
    await client.untilEnd();
    expect(started.events.of("cut")).to.deep.equal(["cut shutdown 1"]);
  });

  it("a shutdown sends GOAWAY to HTTP/2 clients and lets their streams finish", async () => {
    const started = startManager();
    await started.manager.apply(plan([http(80)]));
    const session = connectHttp2(`http://127.0.0.1:${started.manager.localPort(80)}`);
    closeLater(() => session.destroy());
    let body = "";
    const stream = session.request({ ":path": "/" });
    stream.on("data", (chunk: Buffer) => (body += chunk.toString()));
    const ended = new Promise((resolve) => stream.on("close", resolve));
    await eventually(() => started.seen.length === 1);
    const asked = new Promise((resolve) => session.on("goaway", resolve));
    const down = started.manager.shutdown(soon, new AbortController().signal);
    expect(await asked).to.equal(0);
    answer(started.seen[0]?.client as never);
    await ended;
    expect([body, stream.rstCode]).to.deep.equal(["hello", 0]);
    await down;
    expect(started.events.of("cut")).to.deep.equal([]);
  });

  it("a forced shutdown cuts requests at once", async () => {
    const started = startManager();
    await started.manager.apply(plan([http(80)]));
    const busy = await connect(started);
    busy.send(request);
    await eventually(() => started.seen.length === 1);
    const hurry = new AbortController();
    const down = started.manager.shutdown(
      { acceptMs: 60_000, graceMs: 60_000, timeoutMs: 60_000 },
      hurry.signal,
    );
    hurry.abort();
    await down;
    expect(started.events.of("cut")).to.deep.equal(["cut shutdown 1"]);
  });

  it("a plan after a shutdown opens no listener", async () => {
    const started = startManager();
    await started.manager.shutdown(soon, AbortSignal.abort());
    await started.manager.apply(plan([http(80)]));
    expect(started.manager.boundPorts()).to.deep.equal([]);
  });
});
