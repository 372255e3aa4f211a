import { once } from "node:events";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { createServer, request, type IncomingMessage, type RequestListener } from "node:http";
import { expect } from "chai";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { jwksKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { makeKey, signToken } from "../auth/tokens.ts";
import { gateAt, gateName, gateWith, GuardedGateway, httpCheck } from "./ext-auth-support.ts";
import { eventually, startTcp } from "./gateway.ts";

describe("ext-auth over HTTP", () => {
  let guarded: GuardedGateway;
  let asked: IncomingMessage[];

  beforeEach(() => {
    guarded = new GuardedGateway();
    asked = [];
  });
  afterEach(() => guarded.close());

  async function start(
    gate: RequestListener | number | undefined,
    more: Partial<ExternalCheck> = {},
  ): Promise<void> {
    const port =
      typeof gate === "function"
        ? await guarded.listen(
            createServer((message, response) => {
              asked.push(message);
              gate(message, response);
            }),
          )
        : gate;
    await guarded.start(
      [{ ...httpCheck, ...more }],
      [gateAt(gateName, ...(port === undefined ? [] : [port]))],
    );
  }

  it("ext-auth over HTTP: the service gets the request line, allowed fields and no body, and the upstream its answer", async () => {
    await start((_, response) => response.setHeader("x-user", "alice").setHeader("x-other", "1").end());
    const sent = { authorization: "Bearer t", cookie: "c=1", "x-user": "root", x_user: "root" };
    expect((await guarded.send({ headers: sent, body: "body" })).text).to.equal("upstream");
    expect([asked[0]?.method, asked[0]?.url]).to.deep.equal(["POST", "/a?b=c"]);
    expect(asked[0]?.headers).to.include({
      host: "a.example",
      authorization: "Bearer t",
      "x-forwarded-method": "POST",
      "x-forwarded-uri": "/a?b=c",
      "x-forwarded-host": "a.example",
      "x-forwarded-proto": "http",
      "x-forwarded-for": "127.0.0.1",
      "content-length": "0",
    });
    expect(asked[0]?.headers).not.to.have.any.keys("cookie", "x-user");
    expect(guarded.seen[0]?.headers).to.include({ "x-user": "alice", cookie: "c=1" });
    expect(guarded.seen[0]?.headers).not.to.have.any.keys("x_user", "x-other");
  });

  it("ext-auth over HTTP: a denied HEAD request gets the length that the service says, and none where it says none", async () => {
    const lengths: (string | undefined)[] = ["13", undefined];
    await start((_, response) => {
      const length = lengths.shift();
      if (length !== undefined) response.setHeader("content-length", length);
      response.writeHead(403).end();
    });
    for (const length of ["13", undefined]) {
      const message = await guarded.send({ method: "HEAD" });
      expect([message.statusCode, message.headers["content-length"]]).to.deep.equal([403, length]);
    }
  });

  it("ext-auth over HTTP: the service gets the client's credentials also where its answer replaces them for the upstream", async () => {
    const answers: (string | undefined)[] = ["Bearer exchanged", undefined];
    await start(
      (_, response) => {
        const answer = answers.shift();
        if (answer !== undefined) response.setHeader("authorization", answer);
        response.end();
      },
      { allowedResponseHeaders: ["authorization"] },
    );
    for (const shown of ["Bearer exchanged", undefined]) {
      await guarded.send({ headers: { authorization: "Bearer opaque" } });
      expect(asked.at(-1)?.headers.authorization).to.equal("Bearer opaque");
      expect(guarded.seen.at(-1)?.headers.authorization).to.equal(shown);
    }
  });

  it("ext-auth over HTTP: the service gets the token that auth-jwt does not forward to the upstream", async () => {
    const key = makeKey("EC", "ES256", "one");
    const port = await guarded.listen(
      createServer((message, response) => {
        asked.push(message);
        response.end();
      }),
    );
    const rules = {
      keySet: "ns/id",
      issuer: "https://id.example",
      audiences: [],
      fromHeaders: [{ name: "Authorization", prefix: "Bearer " }],
      forward: false,
      claimToHeaders: [],
    };
    const keys = encodeResource<"jwks">(jwksKey("ns/id"), { keys: [key.public] });
    await guarded.start([httpCheck], [gateAt(gateName, port), keys], { "auth-jwt": [{ rules }] });
    const authorization = `Bearer ${await signToken(key)}`;
    expect((await guarded.send({ headers: { authorization } })).statusCode).to.equal(200);
    expect(asked[0]?.headers.authorization).to.equal(authorization);
    expect(guarded.seen[0]?.headers).not.to.have.property("authorization");
  });

  it("ext-auth over HTTP: the client gets a denial as it is, and no upstream is contacted", async () => {
    await start((_, response) => {
      response.writeHead(418, {
        "content-type": "text/html",
        "set-cookie": ["a=1", "b=2"],
        location: "/login",
      });
      response.end("<h1>no</h1>");
    });
    const message = await guarded.send({});
    expect([message.statusCode, message.text]).to.deep.equal([418, "<h1>no</h1>"]);
    expect(message.headers).to.deep.include({
      "content-type": "text/html",
      "set-cookie": ["a=1", "b=2"],
      location: "/login",
      "content-length": "11",
    });
    expect(message.headers).not.to.have.property("cache-control");
    expect(guarded.seen).to.deep.equal([]);
  });

  it("ext-auth over HTTP/2: a denial reaches the client without the hop-by-hop fields of the service", async () => {
    const service = createHttp2Server();
    service.on("stream", (stream) => {
      stream.respond({ ":status": 403, trailer: "x-t", "proxy-authenticate": "Basic", "x-why": "role" });
      stream.end("no");
    });
    service.listen(0, "127.0.0.1");
    await once(service, "listening");
    guarded.onClose(() => void service.close());
    await start((service.address() as AddressInfo).port, { protocol: "http2" });
    const message = await guarded.send({});
    expect([message.statusCode, message.text, message.headers["x-why"]]).to.deep.equal([403, "no", "role"]);
    expect(message.headers).not.to.have.any.keys("trailer", "proxy-authenticate");
  });

  for (const [denial, grpcStatus] of [
    [403, "7"],
    [500, "2"],
    [503, "14"],
  ] as const) {
    it(`ext-auth over HTTP: a gRPC client that is denied with ${denial} gets the gRPC status ${grpcStatus}`, async () => {
      await start((_, response) => void response.writeHead(denial).end());
      const { headers } = await guarded.send({ headers: { "content-type": "application/grpc" } });
      expect(headers["grpc-status"]).to.equal(grpcStatus);
    });
  }

  const details: readonly (readonly [
    string,
    RequestListener | number | undefined,
    object,
    string,
    string,
  ])[] = [
    [
      "a denial",
      (_, response) => void response.writeHead(418).end("no"),
      {},
      "auth-service-denied",
      "ns/gate:9000: status 418",
    ],
    [
      "an answer that does not decide",
      (_, response) => void response.writeHead(500).end(),
      { deniedStatuses: [401, 403] },
      "auth-service-failed",
      "ns/gate:9000: status 500",
    ],
    [
      "a service that is too slow",
      () => {},
      { timeoutMs: 50 },
      "auth-service-timeout",
      "ns/gate:9000: no answer within 50 ms",
    ],
    [
      "an answer that is too large",
      (_, response) => void response.writeHead(403).end("x".repeat(100_000)),
      {},
      "auth-service-failed",
      "ns/gate:9000: answer of more than 65536 bytes",
    ],
    [
      "a service that resets connections",
      (message) => message.socket.resetAndDestroy(),
      {},
      "auth-service-unreachable",
      "ns/gate:9000: upstream reset",
    ],
    ["a service without endpoints", undefined, {}, "auth-service-missing", "ns/gate:9000: no endpoint"],
  ];
  for (const [what, gate, more, reason, detail] of details) {
    it(`ext-auth over HTTP: the log says what the service did after ${what}, and the client does not learn it`, async () => {
      await start(gate, more);
      const { text } = await guarded.send({});
      await eventually(() => guarded.gateway.records.length === 1);
      expect(guarded.gateway.records[0]).to.include({ reason, detail });
      expect(text).not.to.include("gate");
    });
  }

  it("ext-auth over HTTP: a connection that the service refuses is in the log", async () => {
    const refusing = await holdRefusingPort();
    guarded.onClose(() => refusing.close());
    await start(refusing.port);
    expect((await guarded.send({})).statusCode).to.equal(503);
    await eventually(() => guarded.gateway.records.length === 1);
    expect(guarded.gateway.records[0]?.detail).to.equal("ns/gate:9000: connection refused");
  });

  for (const [failClosed, status] of [
    [true, 503],
    [false, 200],
  ] as const) {
    it(`ext-auth over HTTP: a request gets ${status} when the service fails and failClosed is ${failClosed}`, async () => {
      await start((message) => message.socket.destroy(), { failClosed });
      expect((await guarded.send({ headers: { "x-user": "root" } })).statusCode).to.equal(status);
      expect(guarded.seen[0]?.headers["x-user"]).to.equal(undefined);
    });

    it(`ext-auth over HTTP: a request gets ${status} when the service is too slow and failClosed is ${failClosed}`, async () => {
      await start(() => {}, { failClosed, timeoutMs: 50 });
      expect((await guarded.send({})).statusCode).to.equal(status);
    });
  }

  it("ext-auth over HTTP: a request gets 503 without an endpoint, also when the check fails open", async () => {
    await start(undefined, { failClosed: false });
    expect((await guarded.send({})).statusCode).to.equal(503);
    expect(guarded.seen).to.deep.equal([]);
  });

  it("ext-auth over HTTP: an answer that is no HTTP, or that splits a field, counts as a failure", async () => {
    for (const answer of [
      "SSH-2.0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX-User: a\rInjected: b\r\nContent-Length: 0\r\n\r\n",
    ]) {
      const gate = await startTcp((socket) => void socket.once("data", () => socket.end(answer)));
      await start(gate.port);
      guarded.onClose(() => gate.close());
      expect((await guarded.send({})).statusCode).to.equal(503);
    }
    expect(guarded.seen).to.deep.equal([]);
  });

  it("ext-auth over HTTP: the check request is aborted when the client leaves", async () => {
    let gone = false;
    await start((message) => void message.socket.on("close", () => (gone = true)));
    const sent = request({
      host: "127.0.0.1",
      port: guarded.gateway.port,
      headers: { host: "a.example" },
      agent: false,
    });
    sent.on("error", () => {});
    sent.end();
    await eventually(() => asked.length === 1);
    sent.destroy();
    await eventually(() => gone);
    expect(guarded.seen).to.deep.equal([]);
  });

  it("ext-auth over HTTP: the path gets the prefix, and the proxy's own fields replace the client's", async () => {
    await start((_, response) => void response.end(), {
      pathPrefix: "/check",
      allowedHeaders: ["x-forwarded-for", "x-key"],
    });
    await guarded.send({ headers: { "x-key": "k" } });
    expect(asked[0]?.url).to.equal("/check/a?b=c");
    expect(asked[0]?.headers).to.include({
      "x-key": "k",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-uri": "/a?b=c",
    });
  });

  it("ext-auth over HTTP: services are asked one after another until one denies the request", async () => {
    const answers = [200, 200, 401];
    const port = await guarded.listen(
      createServer((message, response) => {
        asked.push(message);
        response.setHeader("x-user", `user-${asked.length}`);
        response.writeHead(answers[asked.length - 1] ?? 200).end();
      }),
    );
    await guarded.start([httpCheck, httpCheck], [gateAt(gateName, port)]);
    expect((await guarded.send({})).statusCode).to.equal(200);
    expect(guarded.seen[0]?.headers["x-user"]).to.equal("user-2");
    expect((await guarded.send({})).statusCode).to.equal(401);
    expect([asked.length, guarded.seen.length]).to.deep.equal([3, 1]);
  });

  it("ext-auth over HTTP: the body of an allowing answer may have any length", async () => {
    await start((_, response) => void response.setHeader("x-user", "alice").end("a".repeat(300_000)));
    expect((await guarded.send({})).statusCode).to.equal(200);
    expect(guarded.seen[0]?.headers["x-user"]).to.equal("alice");
  });

  it("ext-auth over HTTP: a denial that is too long, or an answer that never ends, counts as a failure", async () => {
    await start((_, response) => void response.writeHead(403).end("a".repeat(70_000)));
    expect((await guarded.send({})).statusCode).to.equal(503);
    await start((_, response) => void response.writeHead(200, { "content-length": "9" }).write("a"), {
      timeoutMs: 50,
    });
    expect((await guarded.send({})).statusCode).to.equal(503);
    expect(guarded.seen).to.deep.equal([]);
  });

  it("ext-auth over HTTP: a redirect of the service is not followed but passed to the client", async () => {
    await start((_, response) => void response.writeHead(302, { location: "http://169.254.169.254/" }).end());
    const reply = await guarded.send({});
    expect([reply.statusCode, reply.headers.location]).to.deep.equal([302, "http://169.254.169.254/"]);
  });

  for (const [failClosed, status] of [
    [true, 503],
    [false, 200],
  ] as const) {
    it(`ext-auth over HTTP: a service with an open circuit breaker is not asked, and requests get ${status} when failClosed is ${failClosed}`, async () => {
      const port = await guarded.listen(
        createServer((message) => {
          asked.push(message);
          message.socket.destroy();
        }),
      );
      const circuitBreaker = {
        threshold: 50,
        minRequests: 2,
        windowMs: 600_000,
        openMs: 600_000,
        maxOpenMs: 600_000,
      };
      const check = { ...httpCheck, failClosed };
      await guarded.start([check], [gateWith({ circuitBreaker }, gateName, [port])]);
      const statuses: (number | undefined)[] = [];
      for (let i = 0; i < 5; i++) statuses.push((await guarded.send({})).statusCode);
      expect(statuses).to.deep.equal(Array.from({ length: 5 }, () => status));
      expect(asked).to.have.lengthOf(2);
    });
  }

  it("ext-auth over HTTP: the policy of the Service chooses the endpoint, here the one with the fewest requests", async () => {
    const ports = await Promise.all(
      [0, 1].map((index) =>
        guarded.listen(
          createServer((message, response) => {
            asked.push(message);
            // The first endpoint that is asked never answers.
            if (asked.length > 1) response.setHeader("x-user", `gate-${index}`).end();
          }),
        ),
      ),
    );
    const resource = gateWith({ loadBalancer: { algorithm: "least_conn" } }, gateName, ports);
    await guarded.start([httpCheck], [resource]);
    void guarded.send({}).catch(() => {});
    await eventually(() => asked.length === 1);
    const first = asked[0]?.socket.localPort;
    for (let i = 0; i < 5; i++) expect((await guarded.send({})).statusCode).to.equal(200);
    expect(asked.slice(1).some(({ socket }) => socket.localPort === first)).to.equal(false);
  });
});
