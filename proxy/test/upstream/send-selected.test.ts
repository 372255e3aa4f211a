import { PassThrough } from "node:stream";
import { expect } from "chai";
import type { UpstreamErrorKind } from "../../src/upstream/errors.ts";
import { sendSelected } from "../../src/upstream/send-selected.ts";
import type { UpstreamHandler } from "../../src/upstream/upstream.ts";
import { FakeUpstream } from "../http/fakes.ts";
import { endpointList } from "./balancing.ts";
import { getRequest } from "./support.ts";

const head = (status: number) => ({ status, headers: [], length: 0, bodyless: true });

/** A request that is watched, and what is told about it: to the watch, and to the receiver of the response. */
function harness() {
  const told: string[] = [];
  const heard: string[] = [];
  const client = new FakeUpstream();
  const [endpoint] = endpointList(1);
  if (endpoint === undefined) throw new Error("no endpoint");
  const handler: UpstreamHandler = {
    onConnection: (reused) => void heard.push(`connection ${reused}`),
    onInformational: (status) => void heard.push(`informational ${status}`),
    onHead: ({ status }) => void heard.push(`head ${status}`),
    onData: (chunk) => heard.push(`data ${chunk.toString()}`) > 0,
    pendingBytes: 7,
    onEnd: () => void heard.push("end"),
    onUpgrade: () => void heard.push("upgrade"),
    onError: ({ kind }) => void heard.push(`error ${kind}`),
  };
  const watch = {
    responded: (status: number) => void told.push(`responded ${status}`),
    failed: () => void told.push("failed"),
    ended: () => void told.push("ended"),
  };
  const stream = sendSelected(client, { endpoint, watch, setCookie: undefined }, getRequest(), handler);
  return { told, heard, client, stream, upstream: client.last.handler };
}

const failure = (kind: UpstreamErrorKind) => ({ kind, text: kind, requestSent: true });

describe("sendSelected", () => {
  it("sendSelected passes all events on, and reports the response and its end to the watch", () => {
    const { told, heard, upstream, stream, client } = harness();
    upstream.onConnection(true);
    upstream.onInformational(103, []);
    upstream.onHead(head(200));
    expect(upstream.onData("x")).to.equal(true);
    expect(upstream.pendingBytes).to.equal(7);
    stream.resume();
    upstream.onEnd(undefined);
    expect(heard).to.deep.equal(["connection true", "informational 103", "head 200", "data x", "end"]);
    expect([told, client.resumed]).to.deep.equal([["responded 200", "ended"], 1]);
  });

  it("sendSelected reports failures of the endpoint to the watch, but not those of the client", () => {
    for (const kind of [
      "refused",
      "connect",
      "connect-timeout",
      "tls",
      "reset",
      "invalid",
      "timeout",
    ] as const) {
      const { told, heard, upstream } = harness();
      upstream.onError(failure(kind));
      expect([told, heard]).to.deep.equal([["failed", "ended"], [`error ${kind}`]]);
    }
    const { told, upstream } = harness();
    upstream.onError(failure("request-body"));
    expect(told).to.deep.equal(["ended"]);
  });

  it("sendSelected reports the end once, even when the request is aborted twice", () => {
    const { told, stream, client } = harness();
    stream.abort();
    stream.abort();
    expect([told, client.aborted]).to.deep.equal([["ended"], 2]);
  });

  it("the watch of an upgraded request ends when the tunnel closes", async () => {
    const { told, upstream } = harness();
    const socket = new PassThrough();
    upstream.onUpgrade([], socket, Buffer.alloc(0));
    expect(told).to.deep.equal(["responded 101"]);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.destroy();
    await closed;
    expect(told).to.deep.equal(["responded 101", "ended"]);
  });
});
