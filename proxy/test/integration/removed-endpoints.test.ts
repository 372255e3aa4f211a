import { once } from "node:events";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { eventually, exchange, startGateway } from "./gateway.ts";

const host = "a.example";
/** More than the connections to one endpoint, each of which has one stream at a time here. */
const requests = 20;

describeHttp2Codecs("endpoints that are removed", () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const startBackend = async (
    maxConcurrentStreams: number,
    onStream: (stream: ServerHttp2Stream) => void,
  ): Promise<number> => {
    const server = createHttp2Server({ settings: { maxConcurrentStreams } });
    server.on("stream", onStream);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    return (server.address() as AddressInfo).port;
  };
  const respond = (stream: ServerHttp2Stream, text: string): void => {
    stream.respond({ ":status": 200 });
    stream.end(text);
  };

  it("a request that waits for a stream to an endpoint is served when that is removed, and a later one by another", async () => {
    const held: ServerHttp2Stream[] = [];
    let isOpen = false;
    const old = await startBackend(1, (stream) => {
      if (isOpen) respond(stream, "old");
      else held.push(stream);
    });
    const next = await startBackend(100, (stream) => respond(stream, "next"));
    const gateway = await startGateway({ ports: [old], protocol: "http2" });
    closing.push(() => gateway.close());
    const ask = (): Promise<string> =>
      exchange(gateway.port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const waiting = Array.from({ length: requests }, ask);
    const active = gateway.metrics.connectionsActive.with({ listener: "80" });
    await eventually(() => active.value === requests && held.length > 1);
    gateway.update({ ...gateway.plan, ports: [next] });
    expect(await ask()).to.match(/^HTTP\/1\.1 200 [^]*next/);
    isOpen = true;
    for (const stream of held) respond(stream, "old");
    for (const answer of waiting) expect(await answer).to.match(/^HTTP\/1\.1 200 [^]*(?:old|next)/);
  });
});
