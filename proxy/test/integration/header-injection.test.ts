import type { Socket } from "node:net";
import type { ExternalCheck } from "@svc-gateway/common/features/ext-auth.ts";
import { requestHeaders } from "@svc-gateway/common/features/request-headers.ts";
import { responseHeaders } from "@svc-gateway/common/features/response-headers.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { isHeaderValue, isToken } from "@svc-gateway/common/values/header-name.ts";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import fc from "fast-check";
import { claimHeaders } from "../../src/auth/claim-headers.ts";
import { requestHeadersFilter } from "../../src/filters/request-headers.ts";
import { responseHeadersFilter } from "../../src/filters/response-headers.ts";
import { exchange as exchangeOf } from "../filters/support.ts";
import { exchange, startGateway, startTcp, type Gateway } from "./gateway.ts";
import { Fields } from "../../src/message/fields.ts";

/** Texts with pieces that would begin another field, or end the message, if they were passed on. */
const hostileText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      "\r\n",
      "\n",
      "\r",
      "\0",
      ":",
      " ",
      "\t",
      "\u0085",
      "\u2028",
      "é",
      "\ud800",
      "%0d%0a",
      "X-Injected: 1",
    ),
    fc.string({ unit: "binary", maxLength: 3 }),
  ),
  maxLength: 12,
});

/** The names of the fields of a message head, in lower case; a line without a colon is kept whole. */
const fieldNames = (head: string): readonly string[] =>
  head
    .split("\r\n\r\n", 1)
    .flatMap((text) => text.split(/\r\n|\n|\r/).slice(1))
    .map((line) => line.split(":", 1)[0]?.toLowerCase() ?? "");

function expectFields(list: readonly string[], names: readonly string[]): void {
  for (let i = 0; i < list.length; i += 2) {
    expect(isToken(list[i] ?? ""), JSON.stringify(list[i])).to.equal(true);
    expect(isHeaderValue(list[i + 1] ?? ""), JSON.stringify(list[i + 1])).to.equal(true);
    expect(names).to.include(list[i]?.toLowerCase());
  }
}

describeCodecs("values from outside", () => {
  let stop: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
    stop = [];
  });

  /** An upstream that keeps the heads of its requests. */
  async function serve(
    features: RouteFeatures,
    answer = "",
    authPort?: number,
  ): Promise<[Gateway, string[]]> {
    const heads: string[] = [];
    const upstream = await startTcp((socket) =>
      onHead(socket, (head) => {
        heads.push(head);
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n${answer}\r\n`, "latin1");
      }),
    );
    const auth = encodeResource<"endpoints">(endpointsKey("ns/auth/80"), {
      service: "ns/auth",
      resolve: "static",
      addresses: [{ host: "127.0.0.1", port: authPort ?? 1 }],
    });
    const gateway = await startGateway({ ports: [upstream.port], features, resources: [auth] });
    stop.push(
      () => upstream.close(),
      () => gateway.close(),
    );
    return [gateway, heads];
  }

  function onHead(socket: Socket, done: (head: string) => void): void {
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = text.slice(0, end);
      text = text.slice(end + 4);
      done(head);
    });
  }

  const get = (target: string, fields = ""): string =>
    `GET ${target} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n${fields}\r\n`;

  it("values of annotations become whole fields of the annotated direction, or nothing", () => {
    const { set, add } = responseHeaders.annotations;
    const definitions = [requestHeaders.annotations.set, requestHeaders.annotations.add, set, add];
    const lines = fc.array(
      fc.oneof(
        hostileText,
        hostileText.map((text) => `X-A: ${text}`),
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(lines, (parts) => {
        const text = parts.join("\n");
        for (const { parse } of definitions) {
          const parsed = parse(text, () => undefined);
          if (!parsed.ok || parsed.value === "invalid") continue;
          const fields = parsed.value;
          const names = fields.map((field) => field.name.toLowerCase());
          const request = exchangeOf();
          void requestHeadersFilter({ set: fields }).onRequest?.(request);
          expectFields(request.headers.toList(), names);
          const head = { status: 200, headers: Fields.of([]), length: 0, bodyless: false };
          responseHeadersFilter({ add: fields }).onResponse?.(request, head);
          expectFields(head.headers.toList(), names);
          // No line of the value gave more than one field.
          expect(fields.length).to.be.at.most(text.split("\n").length);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("values of claims become one field value each, or nothing", () => {
    const claimToHeaders = [
      { claim: "sub", header: "X-User" },
      { claim: "__proto__", header: "X-Proto" },
    ];
    fc.assert(
      fc.property(fc.oneof(hostileText, fc.jsonValue()), (value) => {
        const token = { claims: { sub: value }, payload: "e30", untilMs: 0 };
        const headers = claimHeaders(token as unknown as Parameters<typeof claimHeaders>[0], {
          claimToHeaders,
          payloadHeader: "X-Payload",
        });
        expectFields(headers, ["x-user", "x-payload"]);
        expect(headers.length).to.be.at.most(4);
      }),
      { numRuns: 2000 },
    );
  });

  it("values of a request never add a field to a redirect", async () => {
    const redirect = { scheme: "https", statusCode: 302 } as const;
    const [gateway] = await serve({ redirect });
    const known = ["location", "content-length", "content-type", "cache-control", "connection", "date"];
    await fc.assert(
      fc.asyncProperty(hostileText, hostileText, async (path, query) => {
        const answer = await exchange(gateway.port, get(`/${path}?${query}`, "X-A: b\r\n"));
        // What is no request is refused; of a pipelined remainder nothing is answered after a refusal.
        expect(answer).to.match(/^(?:HTTP\/1\.1 (?:302|4\d\d|501|505) |$)/);
        for (const message of answer.split(/(?=HTTP\/1\.1 \d{3} )/).filter((one) => one !== "")) {
          expect(known).to.include.members([...fieldNames(message)]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("values of an authorization service reach the upstream as one field, or the request is refused", async () => {
    let value = "";
    const auth = await startTcp((socket) =>
      onHead(socket, () => {
        const field = Buffer.from(`X-User: ${value}`, "utf8").toString("latin1");
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n${field}\r\n\r\n`, "latin1");
      }),
    );
    stop.push(() => auth.close());
    const check = {
      endpoints: "ns/auth/80",
      protocol: "http1" as const,
      api: "http" as const,
      timeoutMs: 60_000,
      failClosed: true,
      allowedHeaders: [],
      allowedResponseHeaders: ["x-user"],
    } satisfies ExternalCheck;
    const [gateway, heads] = await serve({ "ext-auth": [{ check }] }, "", auth.port);
    await fc.assert(
      fc.asyncProperty(hostileText, async (text) => {
        value = text;
        heads.length = 0;
        const answer = await exchange(gateway.port, get("/"));
        expect(answer).to.match(/^HTTP\/1\.1 (?:200|503) /);
        expect(heads).to.have.lengthOf(answer.startsWith("HTTP/1.1 200") ? 1 : 0);
        for (const head of heads) {
          const names = fieldNames(head);
          expect(names).to.not.include("x-injected");
          expect(names.filter((name) => name === "x-user").length).to.be.at.most(1);
          for (const name of names) expect(isToken(name), head).to.equal(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("a response of an upstream whose fields would split is answered 502", async () => {
    const [gateway] = await serve({}, "X-A: a\u0000b\r\n");
    expect(await exchange(gateway.port, get("/"))).to.match(/^HTTP\/1\.1 502 /);
    const [split] = await serve({}, "X-A: a\rX-Injected: 1\r\n");
    expect(await exchange(split.port, get("/"))).to.match(/^HTTP\/1\.1 502 /);
  });
});
