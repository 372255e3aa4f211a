import { PassThrough } from "node:stream";
import { expect } from "chai";
import type { UpstreamErrorKind } from "../../src/upstream/upstream-errors.ts";
import { sendSelected } from "../../src/upstream/send-selected.ts";
import type { UpstreamHandler } from "../../src/upstream/upstream.ts";
import { SocketTransport } from "../../src/sockets/socket-transport.ts";
import { FakeUpstream } from "../http/fakes.ts";
import { endpointList } from "./balancing.ts";
import { getRequest } from "./support.ts";
import { Fields } from "../../src/message/fields.ts";

const head = (status: number) => ({ status, headers: Fields.of([]), length: 0, bodyless: true });

/** A watched request, with the events that its watch and the receiver of the response get. */
function harness() {
  const watched: string[] = [];
  const received: string[] = [];
  const client = new FakeUpstream();
  const [endpoint] = endpointList(1);
  if (endpoint === undefined) throw new Error("no endpoint");
  const handler: UpstreamHandler = {
    onConnection: (reused) => void received.push(`connection ${reused}`),
    onInformational: (status) => void received.push(`informational ${status}`),
    onHead: ({ status }) => void received.push(`head ${status}`),
    onData: (chunk) => received.push(`data ${chunk.toString()}`) > 0,
    pendingBytes: 7,
    onEnd: () => void received.push("end"),
    onUpgrade: () => void received.push("upgrade"),
    onError: ({ kind }) => void received.push(`error ${kind}`),
  };
  const watch = {
    responded: (status: number) => void watched.push(`responded ${status}`),
    failed: () => void watched.push("failed"),
    ended: () => void watched.push("ended"),
  };
  const stream = sendSelected(client, { endpoint, watch, setCookie: undefined }, getRequest(), handler);
  return { watched, received, client, stream, upstream: client.last.handler };
}

const failure = (kind: UpstreamErrorKind) => ({ kind, text: kind, requestSent: true });

describe("sendSelected", () => {
  it("sendSelected passes all events on, and reports the response and its end to the watch", () => {
    const { watched, received, upstream, stream, client } = harness();
    upstream.onConnection(true);
    upstream.onInformational(103, []);
    upstream.onHead(head(200));
    expect(upstream.onData("x")).to.equal(true);
    expect(upstream.pendingBytes).to.equal(7);
    stream.resume();
    upstream.onEnd(undefined);
    expect(received).to.deep.equal(["connection true", "informational 103", "head 200", "data x", "end"]);
    expect([watched, client.resumed]).to.deep.equal([["responded 200", "ended"], 1]);
  });

  it("sendSelected reports failures of the endpoint to the watch, but not those of the client or the proxy", () => {
    for (const kind of [
      "refused",
      "connect",
      "connect-timeout",
      "tls",
      "reset",
      "invalid",
      "timeout",
    ] as const) {
      const { watched, received, upstream } = harness();
      upstream.onError(failure(kind));
      expect([watched, received]).to.deep.equal([["failed", "ended"], [`error ${kind}`]]);
    }
    for (const kind of ["request-body", "no-socket"] as const) {
      const { watched, upstream } = harness();
      upstream.onError(failure(kind));
      expect(watched, kind).to.deep.equal(["ended"]);
    }
  });

  it("sendSelected reports the end once, even when the request is aborted twice", () => {
    const { watched, stream, client } = harness();
    stream.abort();
    stream.abort();
    expect([watched, client.aborted]).to.deep.equal([["ended"], 2]);
  });

  it("the watch of an upgraded request ends when the tunnel closes", async () => {
    const { watched, upstream } = harness();
    const socket = new PassThrough();
    upstream.onUpgrade(Fields.of([]), { transport: new SocketTransport(socket), head: Buffer.alloc(0) });
    expect(watched).to.deep.equal(["responded 101"]);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.destroy();
    await closed;
    expect(watched).to.deep.equal(["responded 101", "ended"]);
  });
});
