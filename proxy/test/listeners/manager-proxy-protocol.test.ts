import { expect } from "chai";
import { answer, eventually, statusesOf } from "../http/h1/harness.ts";
import { connect, http, noProxyProtocol, plan, startManager, stopManagers } from "./harness.ts";

describe("the listener manager: PROXY protocol", () => {
  afterEach(stopManagers);

  it("the PROXY protocol is set for each listener and changes in place", async () => {
    const started = startManager({}, (_, _head, client) => answer(client));
    const accepting = { ...http(81), proxyProtocol: { accepted: true, trustedPeers: ["127.0.0.1/32"] } };
    await started.manager.apply(plan([http(80), accepting]));
    const header = "PROXY TCP4 192.0.2.7 192.0.2.1 1234 80\r\n";
    const get = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    const ask = async (port: number, text: string): Promise<readonly string[]> => {
      const client = await connect(started, port);
      client.socket.write(text);
      return statusesOf(await client.untilEnd());
    };
    expect(await ask(81, header + get)).to.deep.equal(["200"]);
    expect(await ask(81, get)).to.deep.equal([]);
    expect(await ask(80, get)).to.deep.equal(["200"]);
    expect(started.events.of("proxy-protocol-header")).to.have.length(1);
    expect(started.seen.map(({ connection }) => connection.proxied)).to.deep.equal([true, false]);
    await started.manager.apply(plan([http(80), http(81)]));
    expect(await ask(81, get)).to.deep.equal(["200"]);
    expect(started.events.of("added")).to.have.length(2);
  });

  it("PROXY protocol headers are accepted from the peers that the listener trusts, and from none where it names none", async () => {
    const started = startManager({}, (_, _head, client) => answer(client));
    const accepting = (trustedPeers: readonly string[]) => ({
      ...http(80),
      proxyProtocol: { accepted: true, trustedPeers },
    });
    const text =
      "PROXY TCP4 192.0.2.7 192.0.2.1 1234 80\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    const ask = async (): Promise<readonly string[]> => {
      const client = await connect(started, 80);
      client.socket.on("error", () => {});
      client.socket.write(text);
      return statusesOf(await client.untilEnd());
    };
    for (const [trusted, statuses] of [
      [["192.0.2.0/24"], []],
      [[], []],
      [["::1/128", "127.0.0.0/8"], ["200"]],
    ] as const) {
      await started.manager.apply(plan([accepting(trusted)]));
      expect(await ask()).to.deep.equal(statuses);
    }
    expect(started.events.of("proxy-protocol-peer")).to.have.length(2);
    expect(started.events.of("added")).to.have.length(1);
  });

  it("a change of the PROXY protocol setting does not touch open connections", async () => {
    const started = startManager({}, (_, _head, client) => answer(client));
    await started.manager.apply(plan([http(80)]));
    const open = await connect(started, 80);
    const get = "GET / HTTP/1.1\r\nHost: a\r\n";
    open.socket.write(`${get}\r\n`);
    await open.until(/200/);
    const proxyProtocol = { accepted: true, trustedPeers: ["127.0.0.1/32"] };
    await started.manager.apply(plan([{ ...http(80), proxyProtocol }]));
    open.socket.write(`${get}Connection: close\r\n\r\n`);
    expect(statusesOf(await open.untilEnd())).to.deep.equal(["200", "200"]);
  });

  it("a missing PROXY protocol header is not waited for when the listener is removed, nor beyond its timeout", async () => {
    const settings = { ...noProxyProtocol, accepted: true, timeoutMs: 50 };
    const started = startManager({ proxyProtocol: settings });
    await started.manager.apply(plan([http(80)]));
    const slow = await connect(started);
    slow.socket.write("PROXY ");
    await slow.untilEnd();
    expect(started.events.of("proxy-protocol-timeout")).to.have.length(1);
    await started.manager.shutdown({ acceptMs: 0, graceMs: 0, timeoutMs: 0 }, AbortSignal.abort());

    const patient = startManager({ proxyProtocol: { ...settings, timeoutMs: 60_000 } });
    await patient.manager.apply(plan([http(80)]));
    const waiting = await connect(patient);
    waiting.socket.write("PROXY ");
    await eventually(() => patient.events.of("opened").length === 1);
    await patient.manager.apply(plan([]));
    await waiting.untilEnd();
    expect(patient.events.of("proxy-protocol-timeout", "drain_exceeded")).to.deep.equal([]);
  });
});
