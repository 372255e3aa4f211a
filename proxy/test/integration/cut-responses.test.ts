import { connect } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { readResponse } from "../fuzz/response-reader.ts";
import {
  field,
  flags,
  frame,
  frameTypes,
  rawClient,
  RawPeer,
  requestFrame,
  uint32,
} from "../http/h2/frames.ts";
import { eventually, startGateway, startTcp, type Gateway, type Plan } from "./gateway.ts";

/**
 * A step of a backend that answers a request: bytes to write, a promise to wait for, or `pause`, `end` or `reset` for
 * its connection.
 */
type Step = string | Buffer | Promise<void>;

const host = "a.test";
const ok = "HTTP/1.1 200 OK\r\n";
const half = "h".repeat(500);
const large = "l".repeat(100_000);

const head = (...fields: readonly (readonly [string, string])[]): Buffer =>
  frame(
    frameTypes.headers,
    flags.endHeaders,
    1,
    Buffer.concat([field(":status", "200"), ...fields.map(([name, value]) => field(name, value))]),
  );
const data = (text: string, end = false): Buffer =>
  Buffer.concat(
    (text.match(/[^]{1,16000}/g) ?? [""]).map((part, index, all) =>
      frame(frameTypes.data, end && index === all.length - 1 ? flags.endStream : 0, 1, Buffer.from(part)),
    ),
  );
const rst = (code: number): Buffer => frame(frameTypes.rstStream, 0, 1, uint32(code));
const goaway = (lastStreamId: number): Buffer =>
  frame(frameTypes.goaway, 0, 0, Buffer.concat([uint32(lastStreamId), uint32(0)]));
const length = ["content-length", "1000"] as const;

/** Responses that begin well and are not completed; each in one packet, in several, and large. */
const cutsOf = {
  http1: {
    "ends before its length": [`${ok}Content-Length: 1000\r\n\r\n${half}`, "end"],
    "ends before its length, later": [`${ok}Content-Length: 1000\r\n\r\n`, "pause", half, "pause", "end"],
    "is reset before its length": [`${ok}Content-Length: 1000\r\n\r\n${half}`, "pause", "reset"],
    "ends before its large length": [`${ok}Content-Length: 200000\r\n\r\n${large}`, "end"],
    "ends within a chunk": [`${ok}Transfer-Encoding: chunked\r\n\r\n1000\r\n${half}`, "end"],
    "ends between chunks": [`${ok}Transfer-Encoding: chunked\r\n\r\n1f4\r\n${half}\r\n`, "pause", "end"],
    "ends before its trailers": [`${ok}Transfer-Encoding: chunked\r\n\r\n1f4\r\n${half}\r\n0\r\nX: y`, "end"],
    "has an invalid chunk later": [
      `${ok}Transfer-Encoding: chunked\r\n\r\n1f4\r\n${half}\r\n`,
      "pause",
      "ZZ\r\n",
    ],
    "has invalid trailers later": [
      `${ok}Transfer-Encoding: chunked\r\n\r\n1f4\r\n${half}\r\n`,
      "pause",
      "0\r\nA B: c\r\n\r\n",
    ],
  },
  http2: {
    "ends the stream before its length": [Buffer.concat([head(length), data(half, true)])],
    "ends the stream before its length, later": [head(length), "pause", data(half), "pause", data("", true)],
    "ends the stream after its length": [Buffer.concat([head(["content-length", "10"]), data(half, true)])],
    "is reset with NO_ERROR": [Buffer.concat([head(), data(half), rst(0)])],
    "is reset with NO_ERROR, later": [Buffer.concat([head(), data(half)]), "pause", rst(0)],
    "is reset with CANCEL": [Buffer.concat([head(length), data(half), rst(8)])],
    "is reset with INTERNAL_ERROR, later": [head(), "pause", data(half), "pause", rst(2)],
    "is reset before a byte of its body": [head(), "pause", rst(0)],
    "loses its connection": [Buffer.concat([head(), data(half)]), "pause", "reset"],
    "loses its connection in the same packet": [Buffer.concat([head(), data(half)]), "end"],
    "is left behind by GOAWAY and the end": [Buffer.concat([head(), data(half), goaway(1)]), "end"],
    "is large and reset with NO_ERROR": [Buffer.concat([head(), data("l".repeat(40_000)), rst(0)])],
    "is a gRPC answer without its trailers": [
      Buffer.concat([head(["content-type", "application/grpc"]), data(half), rst(0)]),
    ],
    "is a gRPC answer that loses its connection": [
      Buffer.concat([head(["content-type", "application/grpc"]), data(half)]),
      "pause",
      "end",
    ],
  },
} as const satisfies Record<string, Record<string, readonly Step[]>>;

/** The response as the client perceives it. */
type Outcome = { readonly status: number; readonly complete: boolean; readonly what: string };

describeCodecs("responses that are not completed, through the whole data plane", () => {
  const closing: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0).toReversed()) await one.close();
  });

  /** Starts a backend that answers each request with the steps of its index; `requests` counts the requests. */
  const start = async (
    protocol: "http1" | "http2",
    stepsOf: (index: number) => readonly Step[],
    plan: Partial<Plan> = {},
  ): Promise<{ readonly gateway: Gateway; readonly counts: { requests: number } }> => {
    const counts = { requests: 0 };
    const server = await startTcp((socket) => {
      const answer = async (): Promise<void> => {
        for (const step of stepsOf(counts.requests++)) {
          if (step === "pause")
            for (let i = 0; i < 8; i++) await new Promise((resolve) => setImmediate(resolve));
          else if (step instanceof Promise) await step;
          else if (step === "end") socket.end();
          else if (step === "reset") socket.resetAndDestroy();
          else socket.write(step, "latin1");
        }
      };
      if (protocol === "http1") {
        let bytes = "";
        socket.on("data", (piece: Buffer) => {
          bytes += piece.toString("latin1");
          if (!bytes.includes("\r\n\r\n")) return;
          bytes = "";
          void answer();
        });
        return;
      }
      const peer = new RawPeer(socket, { asServer: true });
      peer.send(frame(frameTypes.settings, 0, 0));
      let seen = 0;
      socket.on("data", () => {
        for (; seen < peer.frames.length; seen++)
          if (peer.frames[seen]?.type === frameTypes.headers) void answer();
      });
    });
    closing.push(server);
    const gateway = await startGateway({ ports: [server.port], protocol, hosts: [host], ...plan });
    closing.push(gateway);
    return { gateway, counts };
  };

  const asks = {
    "HTTP/1.1": async ({ port }: Gateway, method = "GET", onData = () => {}): Promise<Outcome> => {
      const socket = connect({ host: "127.0.0.1", port });
      let text = "";
      socket.on("error", () => {});
      socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
      socket.on("data", onData);
      socket.write(`${method} / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      await new Promise((resolve) => socket.on("close", resolve));
      const read = readResponse(text);
      if (method === "HEAD")
        return { status: Number(text.slice(9, 12)), complete: text.endsWith("\r\n\r\n"), what: text };
      return {
        status: read.kind === "invalid" ? 0 : read.status,
        complete: read.kind === "complete",
        what: text,
      };
    },
    "HTTP/1.0": async ({ port }: Gateway, method = "GET"): Promise<Outcome> => {
      const socket = connect({ host: "127.0.0.1", port });
      let text = "";
      let failed = false;
      socket.on("error", () => (failed = true));
      socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
      socket.write(`${method} / HTTP/1.0\r\nHost: ${host}\r\n\r\n`);
      await new Promise((resolve) => socket.on("close", resolve));
      const read = readResponse(text);
      const complete = !failed && (read.kind === "complete" || method === "HEAD");
      return { status: Number(text.slice(9, 12)), complete, what: text };
    },
    "HTTP/2": async ({ port }: Gateway, method = "GET"): Promise<Outcome> => {
      // Windows that never close: SETTINGS_INITIAL_WINDOW_SIZE, and WINDOW_UPDATE for the connection.
      const window = 1 << 20;
      const peer = rawClient(port, Buffer.concat([Buffer.of(0, 4), uint32(window)]));
      peer.send(frame(frameTypes.windowUpdate, 0, 0, uint32(window)));
      peer.send(requestFrame(1, { end: true, method }));
      const isLast = (one: { type: number; flags: number; streamId: number }): boolean =>
        one.streamId === 1 &&
        (one.type === frameTypes.rstStream ||
          ((one.type === frameTypes.data || one.type === frameTypes.headers) &&
            (one.flags & flags.endStream) !== 0));
      const last = await peer.frame(isLast);
      const headers = peer.frames.find(({ type }) => type === frameTypes.headers);
      // `:status 200` is an entry of the static table (RFC 7541 A); here all others are 502.
      const status = headers === undefined ? 0 : headers.payload[0] === 0x88 ? 200 : 502;
      const what = peer.frames.map((one) => `${one.type}/${one.flags}+${one.payload.length}`).join(" ");
      peer.close();
      return { status, complete: last.type !== frameTypes.rstStream, what };
    },
  } as const;

  for (const protocol of ["http1", "http2"] as const) {
    for (const [version, ask] of Object.entries(asks)) {
      for (const [name, steps] of Object.entries(cutsOf[protocol])) {
        it(`a response of ${protocol} backends that ${name} never looks complete to ${version} clients`, async () => {
          const { gateway } = await start(protocol, () => steps);
          const outcome = await ask(gateway);
          await eventually(() => gateway.records.length === 1);
          const [record] = gateway.records;
          if (outcome.complete)
            expect([outcome.status, record?.status], outcome.what).to.deep.equal([502, 502]);
          expect(record?.error, outcome.what).to.be.a("string").and.not.equal("");
          if (outcome.status === 0) expect(record?.status).not.to.equal(200);
        });
      }
    }
  }

  /** Broken in the packet of their heads, so that nothing of them has left when that shows. */
  const broken = {
    "an invalid chunk": `${ok}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`,
    "an invalid chunk behind a good one": `${ok}Transfer-Encoding: chunked\r\n\r\n1f4\r\n${half}\r\nZZ\r\n`,
    "data behind a chunk": `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n`,
    "invalid trailers": `${ok}Transfer-Encoding: chunked\r\n\r\n1f4\r\n${half}\r\n0\r\nA B: c\r\n\r\n`,
    "an invalid chunk behind an interim head": `HTTP/1.1 103 x\r\n\r\n${ok}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`,
  };
  for (const [version, ask] of Object.entries(asks)) {
    for (const [name, text] of Object.entries(broken)) {
      // The reader of these tests takes the first head that it finds for an answer over HTTP/1.1, too.
      it(`a response with ${name} in the packet of the head is a 502 for ${version} clients, in log and counters`, async () => {
        const { gateway } = await start("http1", () => [text]);
        const { status, complete, what } = await ask(gateway);
        expect([status, complete], what).to.deep.equal([502, true]);
        await eventually(() => gateway.records.length === 1);
        const { status: logged, error, bytesSent } = gateway.records[0] ?? {};
        expect([logged, error, bytesSent]).to.deep.equal([
          502,
          "invalid chunked body",
          "502 Bad Gateway\n".length,
        ]);
        const { body } = await gateway.metrics.expose();
        expect(body).to.match(/svc_proxy_requests_total\{[^}]*status_code="502"[^}]*\} 1/);
        expect(body).to.match(/svc_proxy_upstream_errors_total\{[^}]*error_type="other"[^}]*\} 1/);
      });
    }
  }

  const retry = { attempts: 1, codes: [502] };
  const good = `${ok}Content-Length: 4\r\n\r\ngood`;
  for (const { method, codes, status, requests } of [
    { method: "GET", codes: [502], status: 200, requests: 2 },
    { method: "GET", codes: [503], status: 502, requests: 1 },
    { method: "POST", codes: [502], status: 502, requests: 1 },
  ]) {
    it(`a broken response to a ${method} is ${status === 200 ? "" : "not "}retried with the codes ${codes.join()}`, async () => {
      const { gateway, counts } = await start(
        "http1",
        (index) => [index === 0 ? broken["an invalid chunk behind a good one"] : good],
        { features: { retry: { ...retry, codes } } },
      );
      const outcome = await asks["HTTP/1.1"](gateway, method);
      expect([outcome.status, outcome.complete, counts.requests], outcome.what).to.deep.equal([
        status,
        true,
        requests,
      ]);
      await eventually(() => gateway.records.length === 1);
      expect([gateway.records[0]?.status, gateway.records[0]?.attempts]).to.deep.equal([status, requests]);
    });
  }

  it("a broken response is not retried once its head has left", async () => {
    const left = Promise.withResolvers<void>();
    const { gateway, counts } = await start(
      "http1",
      (index) => (index === 0 ? [`${ok}Transfer-Encoding: chunked\r\n\r\n`, left.promise, "ZZ\r\n"] : [good]),
      { features: { retry } },
    );
    const outcome = await asks["HTTP/1.1"](gateway, "GET", () => left.resolve());
    expect([outcome.status, outcome.complete, counts.requests], outcome.what).to.deep.equal([200, false, 1]);
  });

  for (const [version, ask] of Object.entries(asks)) {
    it(`a response to HEAD over ${version} is complete with any declared length`, async () => {
      for (const [protocol, step] of [
        ["http1", `${ok}Content-Length: 1000\r\n\r\n`],
        [
          "http2",
          frame(
            frameTypes.headers,
            flags.endHeaders | flags.endStream,
            1,
            Buffer.concat([field(":status", "200"), field(...length)]),
          ),
        ],
      ] as const) {
        const { gateway } = await start(protocol, () => [step]);
        const outcome = await ask(gateway, "HEAD");
        expect([outcome.status, outcome.complete], outcome.what).to.deep.equal([200, true]);
      }
    });
  }

  it("a response that is cut by the end of the proxy never looks complete to HTTP/2 clients", async () => {
    const { gateway } = await start("http1", () => [`${ok}Content-Length: 1000\r\n\r\n${half}`]);
    const peer = rawClient(gateway.port);
    peer.send(requestFrame(1, { end: true }));
    await peer.ofType(frameTypes.data);
    await gateway.close();
    closing.pop();
    await eventually(() => peer.ended);
    const ends = peer.frames.filter(
      ({ type, streamId, flags: bits }) =>
        streamId === 1 && type !== frameTypes.rstStream && (bits & flags.endStream) !== 0,
    );
    expect(ends).to.have.length(0);
    expect(gateway.records[0]?.error).to.be.a("string");
  });
});
