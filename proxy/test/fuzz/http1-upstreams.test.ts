import { expect } from "chai";
import fc from "fast-check";
import { exchange, eventually, startGateway, startTcp, type Gateway } from "../integration/gateway.ts";
import { getOverHttp2 } from "../integration/http2-client.ts";
import { readResponse } from "./response-reader.ts";

/** The same responses in each run; SEED=<integer> makes others. */
const seed = Number(process.env["SEED"] ?? 9110);
const responses = Number(process.env["RUNS"] ?? 400);

const host = "a.example";

const visible = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 30,
});
/** Bytes that a proxy that has lost count would take for the answer to the next request. */
const shift = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nSHIFT";
const content = fc.oneof(
  visible,
  fc.constantFrom("", shift, "0\r\n\r\n", `0\r\n\r\n${shift}`, "x".repeat(70_000)),
);

const otherFields = fc.array(
  fc.constantFrom(
    "X-T: v",
    "X-T:",
    "X-T: a\tb",
    "X-T: \u00e9",
    "X-T : v",
    " X-T: v",
    "X-T: a\r\n b",
    "X-T: a\nX-U: b",
    "X-T: a\rX-U: b",
    "X-T: a\0b",
    "X T: v",
    ": v",
    "X-T",
    "Connection: close",
    "Connection: keep-alive",
    "Connection: content-length",
    "Connection: x-t, transfer-encoding",
    "Keep-Alive: timeout=0",
    "Keep-Alive: timeout=99999999999999999999, max=0",
    "Trailer: X-End",
    "TE: trailers",
    "Upgrade: websocket",
    "Proxy-Authenticate: Basic",
    "Set-Cookie: a=b",
    "Set-Cookie: c=d",
    "Date: x",
  ),
  { maxLength: 3 },
);

const chunk = (piece: string): string => (piece === "" ? "" : `${piece.length.toString(16)}\r\n${piece}\r\n`);

/** Framing fields, and the bytes after the head. */
const bodies: fc.Arbitrary<{ readonly fields: readonly string[]; readonly bytes: string }> = fc.oneof(
  { weight: 6, arbitrary: content.map((bytes) => ({ fields: [`Content-Length: ${bytes.length}`], bytes })) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.array(content, { maxLength: 3 }),
        fc.constantFrom("", "", "X-End: 1\r\n", "X End: 1\r\n", "X-End: a\nb\r\n", "Content-Length: 3\r\n"),
      )
      .map(([pieces, trailers]) => ({
        fields: ["Transfer-Encoding: chunked"],
        bytes: `${pieces.map(chunk).join("")}0\r\n${trailers}\r\n`,
      })),
  },
  { weight: 2, arbitrary: content.map((bytes) => ({ fields: [], bytes })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        content,
        fc.constantFrom<(length: number) => readonly string[]>(
          (length) => [`Content-Length: ${length}`, `Content-Length: ${length}`],
          (length) => [`Content-Length: ${length}, ${length}`],
          (length) => [`Content-Length: ${length}`, `Content-Length: ${length + 1}`],
          (length) => [`Content-Length: ${length + 3}`],
          (length) => [`Content-Length: ${Math.max(0, length - 3)}`],
          (length) => [`Content-Length: +${length}`],
          () => ["Content-Length: -1"],
          () => ["Content-Length:"],
          () => ["Content-Length: 99999999999999999999"],
          (length) => ["Transfer-Encoding: chunked", `Content-Length: ${length}`],
        ),
      )
      .map(([bytes, fields]) => ({ fields: fields(bytes.length), bytes })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          "chunked",
          "CHUNKED",
          "chunked, chunked",
          "gzip, chunked",
          "identity",
          "xchunked",
          "",
          "chunked;q=1",
        ),
        fc.constantFrom(
          "5\r\nhello\r\n0\r\n\r\n",
          "5;a=b\r\nhello\r\n0\r\n\r\n",
          "5 ;a\r\nhello\r\n0\r\n\r\n",
          "0005\r\nhello\r\n000\r\n\r\n",
          "0x5\r\nhello\r\n0\r\n\r\n",
          "+5\r\nhello\r\n0\r\n\r\n",
          "5\nhello\r\n0\r\n\r\n",
          "5\r\nhello0\r\n\r\n",
          "5\r\nhell\r\n0\r\n\r\n",
          "5\r\nhello\r\n0\n\n",
          "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
          "5\r\nhello\r\n0\r\n\n",
          "5\r\nhello\r\n0\r\nX: a\rb\r\n\r\n",
          "5;\0\r\nhello\r\n0\r\n\r\n",
        ),
      )
      .map(([coding, bytes]) => ({ fields: [`Transfer-Encoding: ${coding}`], bytes })),
  },
);

/** Reference and proxy agree on what these are by definition; 204 and 304 are those without a body. */
const statusLines = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.constantFrom(
      "HTTP/1.1 200 OK",
      "HTTP/1.1 200",
      "HTTP/1.1 201 ",
      "HTTP/1.0 200 OK",
      "HTTP/1.1 404 x",
      "HTTP/1.1 500 x",
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom("HTTP/1.1 204 x", "HTTP/1.1 304 x") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "HTTP/1.1 101 x",
      "HTTP/1.1 600 x",
      "HTTP/1.1 099 x",
      "HTTP/1.1 20 x",
      "HTTP/1.1  200 x",
      "HTTP/1.2 200 x",
      "HTTP/2 200 x",
      "http/1.1 200 x",
      "HTTP/1.1 200 \0",
      "ICY 200 OK",
      "\r\nHTTP/1.1 200 OK",
    ),
  },
);
const interim = fc.array(
  fc.constantFrom(
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 103 x\r\nLink: </a>\r\n\r\n",
    "HTTP/1.1 102 x\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 103\nX: y\r\n\r\n",
  ),
  { maxLength: 2 },
);

const script = fc.record({
  text: fc
    .record({
      interim,
      line: statusLines,
      fields: otherFields,
      body: bodies,
      after: fc.constantFrom("", "", "", shift, "x", "\r\n"),
    })
    .map(
      ({ interim: before, line, fields, body, after }) =>
        `${before.join("")}${[line, ...fields, ...body.fields].join("\r\n")}\r\n\r\n${body.bytes}${after}`,
    ),
  /** Bytes after which the upstream ends its side. */
  until: fc.oneof(
    { weight: 4, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
    { weight: 2, arbitrary: fc.nat({ max: 300 }) },
  ),
  cuts: fc.array(fc.nat({ max: 300 }), { maxLength: 3 }),
  /** Whether the upstream leaves its connection open where the message is delimited. */
  staysOpen: fc.boolean(),
  version: fc.constantFrom("1.1", "2"),
});

/** The response of a client: a whole message, or bytes that it cannot take for one. */
type ClientAnswer = { readonly status: number; readonly body: string; readonly complete: boolean };

const readAnswer = (text: string): ClientAnswer => {
  const read = readResponse(text);
  if (read.kind === "complete") return { status: read.status, body: read.body, complete: true };
  return { status: read.kind === "cut" ? read.status : 0, body: "", complete: false };
};

describe("generated responses of HTTP/1 upstreams", function () {
  this.timeout(120_000);
  let gateway: Gateway;
  let backend: Awaited<ReturnType<typeof startTcp>>;
  let present:
    { readonly text: string; readonly cuts: readonly number[]; readonly ends: boolean } | undefined;

  before(async () => {
    backend = await startTcp((socket) => {
      let bytes = "";
      const answer = async (): Promise<void> => {
        const asked = present;
        if (asked === undefined) return;
        let at = 0;
        for (const cut of [...asked.cuts].sort((a, b) => a - b)) {
          if (cut <= at || cut >= asked.text.length) continue;
          socket.write(asked.text.slice(at, cut), "latin1");
          at = cut;
          await new Promise((resolve) => setImmediate(resolve));
        }
        if (asked.ends) socket.end(asked.text.slice(at), "latin1");
        else socket.write(asked.text.slice(at), "latin1");
      };
      socket.on("data", (piece: Buffer) => {
        bytes += piece.toString("latin1");
        for (let end = bytes.indexOf("\r\n\r\n"); end >= 0; end = bytes.indexOf("\r\n\r\n")) {
          const [, target = ""] = bytes.slice(0, end).split(" ");
          bytes = bytes.slice(end + 4);
          if (target === "/") void answer();
          else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n\r\n${target}`);
        }
      });
    });
    gateway = await startGateway({ ports: [backend.port] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it("random HTTP/1 responses are relayed or refused, never completed, and never answer another request", async () => {
    const counts = { complete: 0, cut: 0, invalid: 0 };
    let honest = 0;
    await fc.assert(
      fc.asyncProperty(script, async ({ text, until, cuts, staysOpen, version }) => {
        const bytes = text.slice(0, until);
        const expected = readResponse(bytes);
        counts[expected.kind]++;
        const isDelimited = expected.kind === "complete" && expected.isDelimited;
        // What comes behind a message comes with its end: later it could meet the next request on its way.
        const end = expected.kind === "complete" ? expected.end : bytes.length;
        present = {
          text: bytes,
          cuts: cuts.filter((cut) => cut < end),
          ends: !(staysOpen && isDelimited),
        };
        const records = gateway.records.length;
        let relayed: ClientAnswer;
        if (version === "2") {
          const seen = await getOverHttp2(gateway.port, host);
          relayed = { status: seen.status, body: seen.body, complete: seen.ended };
        } else {
          const answer = await exchange(
            gateway.port,
            `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
          );
          relayed = readAnswer(answer);
        }
        await eventually(() => gateway.records.length > records);
        const about = `${JSON.stringify(bytes.slice(0, 400))} over HTTP/${version} was read as ${JSON.stringify(expected).slice(0, 200)} and relayed as ${JSON.stringify(relayed).slice(0, 200)}`;
        if (expected.kind === "complete") {
          expect(relayed, about).to.deep.equal({
            status: expected.status,
            body: expected.body,
            complete: true,
          });
        } else if (expected.kind === "invalid") {
          expect(relayed.status, about).to.equal(502);
        } else {
          expect(relayed.complete && relayed.status !== 502, about).to.equal(false);
          expect(gateway.records.at(-1)?.error, about).to.be.a("string");
        }
        const target = `/honest-${honest++}`;
        const next = await exchange(
          gateway.port,
          `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        );
        expect(readAnswer(next), `after ${about}`).to.deep.equal({
          status: 200,
          body: target,
          complete: true,
        });
      }),
      { numRuns: responses, seed },
    );
    for (const [kind, count] of Object.entries(counts)) expect(count, kind).to.be.greaterThan(responses / 50);
  });
});
