import { mock } from "node:test";
import { expect } from "chai";
import type { HostQuestion } from "../../src/auth/host-call.ts";
import type { ClientConnection } from "../../src/exchange/client-connection.ts";
import type { Exchange } from "../../src/exchange/exchange.ts";
import type { ListenerView } from "../../src/exchange/listener-view.ts";
import { createHostQuestions } from "../../src/http/host-questions.ts";
import type { ClientStream } from "../../src/message/message.ts";
import { samePublicPorts } from "../listeners/public-ports.ts";
import { mockTimers } from "../mock-timers.ts";

const listener: ListenerView = {
  port: 80,
  portLabel: "80",
  publicPorts: samePublicPorts(80),
  secure: false,
  draining: false,
  table: {
    pathLevel: () => "base",
    filtersOf: undefined,
    clientRulesOf: undefined,
    isMisdirected: () => false,
    groupOf: () => "ingress",
    match: () => undefined,
  },
};
const connection: ClientConnection = {
  remoteAddress: "192.0.2.7",
  remotePort: 5000,
  proxied: false,
  tls: undefined,
  listener,
};
const waiting = { connection, host: "a.example" } as Exchange;
const question: HostQuestion = {
  scheme: "http",
  authority: "b.example",
  method: "GET",
  target: "/",
  headers: [],
  timeoutMs: 5000,
};

describe("questions to hosts of the gateway", () => {
  mockTimers();

  const ask = () => {
    const streams: ClientStream[] = [];
    const askHost = createHostQuestions(
      (_connection, _head, stream) => void streams.push(stream),
      () => [listener],
    );
    const call = askHost(question, waiting);
    const [stream] = streams;
    if (call === undefined || stream === undefined) throw new Error("the host is not served");
    return { call, stream };
  };

  it("a question that its host does not answer in time ends without an answer, and as one that has timed out", async () => {
    const { call } = ask();
    mock.timers.tick(5000);
    expect(await call.answer).to.equal(undefined);
    expect(call.hasTimedOut).to.equal(true);
  });

  it("a question whose response is broken off ends without an answer, and not as one that has timed out", async () => {
    const { call, stream } = ask();
    stream.abort();
    expect(await call.answer).to.equal(undefined);
    expect(call.hasTimedOut).to.equal(false);
  });
});
