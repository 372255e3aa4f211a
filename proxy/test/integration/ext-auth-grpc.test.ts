import { once } from "node:events";
import {
  constants,
  createServer,
  type Http2Server,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { startAuthorizationServer, type Answer, type Message } from "./authorization-server.ts";
import { gateAt, gateName, grpcCheck, GuardedGateway } from "./ext-auth-support.ts";
import { eventually, routeId, startTcp } from "./gateway.ts";

const header = (key: string, value: string): Message => ({ header: { key, value } });
const allowed: Message = { status: { code: 0 }, ok_response: {} };

describeHttp2Codecs("ext-auth over gRPC, asking an independent implementation", () => {
  let guarded: GuardedGateway;
  let asked: Message[];

  beforeEach(() => {
    guarded = new GuardedGateway();
    asked = [];
  });
  afterEach(() => guarded.close());

  async function start(
    check: (answer: Answer, request: Message) => void,
    more: Partial<ExternalCheck> = {},
  ): Promise<void> {
    const server = await startAuthorizationServer((request, answer) => {
      asked.push(request);
      check(answer, request);
    });
    guarded.onClose(() => server.close());
    await guarded.start([{ ...grpcCheck, ...more }], [gateAt(gateName, server.port)]);
  }

  const httpOf = (request: Message = {}): Message =>
    ((request.attributes as Message).request as Message).http as Message;

  it("ext-auth over gRPC: the service gets the request as Envoy's attributes", async () => {
    await start((answer) => answer(null, allowed));
    const headers = {
      authorization: "Bearer t",
      "x-utf8": Buffer.from("zoë").toString("latin1"),
      cookie: "c=1",
    };
    expect((await guarded.send({ headers, body: "body" })).text).to.equal("upstream");
    const attributes = asked[0]?.attributes as Message;
    expect(httpOf(asked[0])).to.deep.include({
      method: "POST",
      path: "/a?b=c",
      host: "a.example",
      scheme: "http",
      protocol: "HTTP/1.1",
      size: 4,
      body: "",
    });
    expect(httpOf(asked[0]).headers).to.include({
      authorization: "Bearer t",
      cookie: "c=1",
      "x-utf8": "zoë",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "http",
    });
    expect(attributes.context_extensions).to.deep.equal({ route: routeId });
    for (const [side, port] of [
      ["source", undefined],
      ["destination", 80],
    ] as const) {
      const { socket_address: socket } = (attributes[side] as Message).address as Message;
      expect((socket as Message).address).to.equal("127.0.0.1");
      expect((socket as Message).port_value).to.satisfy(
        (value: number) => value === (port ?? value) && value > 0,
      );
    }
    const { time } = attributes.request as { time: { seconds: number } };
    expect(time.seconds).to.be.within(Date.now() / 1000 - 600, Date.now() / 1000 + 1);
  });

  it("ext-auth over gRPC: the service gets only the fields that are named, where some are", async () => {
    await start((answer) => answer(null, allowed), { allowedHeaders: ["x-key"] });
    await guarded.send({ headers: { authorization: "Bearer t", "x-key": "k" } });
    expect(httpOf(asked[0]).headers).to.deep.equal({ "x-key": "k" });
  });

  it("ext-auth over gRPC: the upstream gets named fields of an allowing answer and never the client's of these names", async () => {
    await start((answer) =>
      answer(null, {
        status: { code: 0 },
        ok_response: { headers: [header("X-User", "alice"), header("x-other", "1")] },
      }),
    );
    await guarded.send({ headers: { "x-user": "root", x_user: "root", "X-Other": "mine" } });
    expect(guarded.seen[0]?.headers).to.include({ "x-user": "alice", "x-other": "mine" });
    expect(guarded.seen[0]?.headers).not.to.have.property("x_user");
  });

  it("ext-auth over gRPC: every usable field of the answer replaces the client's where none are named", async () => {
    await start(
      (answer) =>
        answer(null, {
          status: { code: 0 },
          ok_response: {
            headers: [
              header("x-team", "a"),
              header("host", "evil"),
              header("content-length", "9"),
              header("te", "x"),
            ],
          },
        }),
      { allowedResponseHeaders: undefined },
    );
    await guarded.send({ headers: { "x-team": "b", x_team: "b" } });
    expect(guarded.seen[0]?.headers).to.include({ "x-team": "a", host: "a.example" });
    expect(guarded.seen[0]?.headers).not.to.have.any.keys("x_team", "content-length", "te");
  });

  it("ext-auth over gRPC: the client gets the status, fields and body of a denial", async () => {
    await start((answer) =>
      answer(null, {
        status: { code: 7 },
        denied_response: {
          status: { code: "Found" },
          headers: [
            header("location", "https://login.example/?a=é"),
            header("set-cookie", "a=1"),
            header("set-cookie", "b=2"),
          ],
          body: "zur Anmeldung für alle",
        },
      }),
    );
    const reply = await guarded.send({});
    expect([reply.statusCode, reply.text]).to.deep.equal([302, "zur Anmeldung für alle"]);
    expect(reply.headers).to.deep.include({ "set-cookie": ["a=1", "b=2"], "content-type": "text/plain" });
    expect(Buffer.from(reply.headers.location ?? "", "latin1").toString()).to.equal(
      "https://login.example/?a=é",
    );
    expect(guarded.seen).to.deep.equal([]);
  });

  it("ext-auth over gRPC: a denial without a valid status is answered 403", async () => {
    const denials: Message[] = [
      { status: { code: 7 } },
      { status: { code: 7 }, denied_response: { body: "" } },
      { status: { code: 16 }, ok_response: { headers: [header("x-user", "alice")] } },
      { status: { code: 0 }, denied_response: {} },
      { denied_response: { status: { code: "Empty" } } },
    ];
    const left = [...denials];
    await start((answer) => answer(null, left.shift()));
    for (const _ of denials) expect((await guarded.send({})).statusCode).to.equal(403);
    expect(guarded.seen).to.deep.equal([]);
  });

  it("ext-auth over gRPC: a call that ends with PERMISSION_DENIED or UNAUTHENTICATED is a denial, also when it fails open", async () => {
    const codes = [7, 16];
    await start((answer) => answer({ code: codes.shift() ?? 0 }), { failClosed: false });
    expect((await guarded.send({})).statusCode).to.equal(403);
    expect((await guarded.send({})).statusCode).to.equal(401);
    expect(guarded.seen).to.deep.equal([]);
  });

  it("ext-auth over gRPC: fields of a denial that would split or frame the response are dropped", async () => {
    await start((answer) =>
      answer(null, {
        status: { code: 7 },
        denied_response: {
          headers: [
            header("x-a", "1\r\nx-evil: 1"),
            header("x-b\r\nx-evil", "1"),
            header("content-length", "3"),
            header("transfer-encoding", "chunked"),
            header("connection", "x-c"),
            header(":status", "200"),
            { header: { key: "x-raw", raw_value: Buffer.from([0xff, 0xfe]) } },
            { header: { key: "x-raw-evil", raw_value: Buffer.from("1\r\nx-evil: 1") } },
            header("x-c", "1"),
            {},
          ],
          body: "no",
        },
      }),
    );
    const reply = await guarded.send({});
    expect([reply.statusCode, reply.text]).to.deep.equal([403, "no"]);
    expect(reply.headers).to.include({ "x-c": "1", "content-length": "2" });
    expect(reply.headers).not.to.have.any.keys("x-evil", "x-a", "x-raw-evil", "transfer-encoding");
    expect(Buffer.from(reply.headers["x-raw"] as string, "latin1")).to.deep.equal(Buffer.from([0xff, 0xfe]));
  });

  it("ext-auth over gRPC: a denied gRPC client gets a gRPC status", async () => {
    await start((answer) =>
      answer(null, { status: { code: 16 }, denied_response: { status: { code: "Unauthorized" } } }),
    );
    const { headers, statusCode } = await guarded.send({ headers: { "content-type": "application/grpc" } });
    expect([statusCode, headers["grpc-status"]]).to.deep.equal([200, "16"]);
  });

  for (const [failClosed, status] of [
    [true, 503],
    [false, 200],
  ] as const) {
    it(`ext-auth over gRPC: a call that ends with another status is answered ${status} when failClosed is ${failClosed}`, async () => {
      await start((answer) => answer({ code: 14 }), { failClosed });
      expect((await guarded.send({ headers: { "x-user": "root" } })).statusCode).to.equal(status);
      expect(guarded.seen[0]?.headers["x-user"]).to.equal(undefined);
    });

    it(`ext-auth over gRPC: a service that does not answer in time is answered ${status} when failClosed is ${failClosed}`, async () => {
      await start(() => {}, { failClosed, timeoutMs: 50 });
      expect((await guarded.send({})).statusCode).to.equal(status);
    });
  }

  it("ext-auth over gRPC: many check requests at a time share connections", async () => {
    const waiting: Answer[] = [];
    await start((answer) => {
      waiting.push(answer);
      if (waiting.length === 20) for (const each of waiting) each(null, allowed);
    });
    const replies = await Promise.all(Array.from({ length: 20 }, () => guarded.send({})));
    expect(replies.map(({ statusCode }) => statusCode)).to.deep.equal(Array.from({ length: 20 }, () => 200));
  });
});

describeHttp2Codecs("ext-auth over gRPC, asking services that break the protocol", () => {
  let guarded: GuardedGateway;

  beforeEach(() => {
    guarded = new GuardedGateway();
  });
  afterEach(() => guarded.close());

  /** A service that answers each call as it likes. */
  async function lie(
    answer: (stream: ServerHttp2Stream) => void,
    more: Partial<ExternalCheck> = {},
  ): Promise<void> {
    const server: Http2Server = createServer();
    server.on("stream", (stream) => {
      stream.on("error", () => {});
      stream.resume();
      answer(stream);
    });
    const sessions = new Set<{ destroy(): void }>();
    server.on("session", (session) => sessions.add(session));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    guarded.onClose(() => {
      for (const session of sessions) session.destroy();
      server.close();
    });
    await guarded.start(
      [{ ...grpcCheck, ...more }],
      [gateAt(gateName, (server.address() as AddressInfo).port)],
    );
  }

  /** Answers with these bytes; the call ends with status OK unless `trailers` say otherwise. */
  const respond =
    (body: Buffer, head: OutgoingHttpHeaders = {}, trailers: OutgoingHttpHeaders = { "grpc-status": "0" }) =>
    (stream: ServerHttp2Stream): void => {
      stream.respond(
        { ":status": 200, "content-type": "application/grpc", ...head },
        { waitForTrailers: true },
      );
      stream.on("wantTrailers", () => stream.sendTrailers(trailers));
      stream.end(body);
    };

  const ok = Buffer.from([0, 0, 0, 0, 4, 0x0a, 0x00, 0x1a, 0x00]);

  it("ext-auth over gRPC: the plain answer that the malformed ones below are made of allows the request", async () => {
    await lie(respond(ok));
    expect((await guarded.send({})).statusCode).to.equal(200);
  });

  const lies: Readonly<Record<string, (stream: ServerHttp2Stream) => void>> = {
    "an error in the head, without a message": (stream) =>
      stream.respond(
        { ":status": 200, "content-type": "application/grpc", "grpc-status": "13" },
        { endStream: true },
      ),
    "a head that says OK, without a message": (stream) =>
      stream.respond(
        { ":status": 200, "content-type": "application/grpc", "grpc-status": "0" },
        { endStream: true },
      ),
    "an answer of HTML": respond(Buffer.from("<html>"), { "content-type": "text/html" }),
    "no content type": (stream) => {
      stream.respond({ ":status": 200 }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(ok);
    },
    "another status of HTTP": respond(ok, { ":status": 204 }),
    "a message that allows, and trailers that say it failed": respond(ok, {}, { "grpc-status": "2" }),
    "two statuses": respond(ok, {}, { "grpc-status": ["0", "0"] }),
    "no trailers": (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.end(ok);
    },
    "a status in the head, and none in the trailers": respond(ok, { "grpc-status": "0" }, { "x-a": "b" }),
    "a compressed message": respond(Buffer.concat([Buffer.from([1]), ok.subarray(1)])),
    "two messages": respond(Buffer.concat([ok, ok])),
    "half a message": respond(ok.subarray(0, 7)),
    "a message longer than it says": respond(Buffer.concat([ok, Buffer.from([0])])),
    "bytes that are no message": respond(Buffer.from([0, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff])),
    "a field that is longer than its message": respond(Buffer.from([0, 0, 0, 0, 2, 0x0a, 0x7f])),
    "an endless message": (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      const more = (): void => {
        while (!stream.destroyed && stream.write(Buffer.alloc(16_384)));
      };
      stream.on("drain", more);
      more();
    },
    "a head of 100 KiB": respond(
      ok,
      Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`x-${i}`, "a".repeat(4096)])),
    ),
    "trailers of 100 KiB": respond(
      ok,
      {},
      {
        "grpc-status": "0",
        ...Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`x-${i}`, "a".repeat(4096)])),
      },
    ),
    "a reset before the head": (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
    "a reset after the message": (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.write(ok, () => stream.close(constants.NGHTTP2_CANCEL));
    },
    "the end of the connection": (stream) => stream.session?.destroy(),
  };

  for (const [what, answer] of Object.entries(lies)) {
    it(`ext-auth over gRPC: ${what} from the service is answered 503`, async () => {
      await lie(answer);
      expect((await guarded.send({})).statusCode).to.equal(503);
      expect(guarded.seen).to.deep.equal([]);
    });
  }

  it("ext-auth over gRPC: a service that speaks another protocol or closes at once is answered 503", async () => {
    for (const greeting of ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""]) {
      const service = await startTcp((socket) => socket.end(greeting));
      guarded.onClose(() => service.close());
      await guarded.start([grpcCheck], [gateAt(gateName, service.port)]);
      expect((await guarded.send({})).statusCode).to.equal(503);
    }
  });

  it("ext-auth over gRPC: an answer that begins and never ends is answered 503 within the timeout", async () => {
    await lie((stream) => stream.respond({ ":status": 200, "content-type": "application/grpc" }), {
      timeoutMs: 50,
    });
    expect((await guarded.send({})).statusCode).to.equal(503);
  });

  it("ext-auth over gRPC: every place is given back, also after failed answers", async () => {
    let calls = 0;
    await lie((stream) => (++calls % 2 === 0 ? respond(ok)(stream) : stream.close(constants.NGHTTP2_CANCEL)));
    const replies: number[] = [];
    for (let i = 0; i < 20; i++) replies.push((await guarded.send({})).statusCode ?? 0);
    expect(replies.filter((status) => status === 200)).to.have.lengthOf(10);
    await eventually(() => guarded.seen.length === 10);
  });
});
