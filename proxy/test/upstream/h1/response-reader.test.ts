import { expect } from "chai";
import fc from "fast-check";
import type { Chunk, HeaderList, ResponseHead } from "../../../src/message/message.ts";
import { type ResponseEvents, ResponseReader } from "../../../src/upstream/h1/response-reader.ts";
import { type Listed, listed } from "../../message/listed.ts";
import type { Fields } from "../../../src/message/fields.ts";

/** Records the events of a reader, with the pieces of the body joined. */
class EventRecorder implements ResponseEvents {
  readonly events: unknown[] = [];
  body = "";
  takesViews = false;
  /** For each head, whether it announced a whole message, and whether the end of the message was reported. */
  readonly wholes: { readonly said: boolean; ended: boolean }[] = [];

  onInformational(status: number, headers: HeaderList): void {
    this.events.push(["informational", status, headers]);
  }
  onHead(head: ResponseHead, keepAlive: boolean): void {
    const { isWhole = false, ...rest } = listed(head);
    this.wholes.push({ said: isWhole, ended: false });
    this.events.push(["head", rest, keepAlive]);
  }
  onData(chunk: Chunk): boolean {
    this.body += typeof chunk === "string" ? chunk : chunk.toString("latin1");
    return true;
  }
  onComplete(trailers: HeaderList | undefined, reusable: boolean): void {
    this.events.push(["complete", this.body, trailers, reusable]);
    const last = this.wholes.at(-1);
    if (last !== undefined) last.ended = true;
  }
  onUpgrade(headers: Fields, rest: Buffer): void {
    this.events.push(["upgrade", headers.toList(), rest.toString("latin1")]);
  }
  onInvalid(text: string): void {
    this.events.push(["invalid", text]);
  }
  onTruncated(): void {
    this.events.push(["truncated"]);
  }
}

type Expected = { readonly toHead?: boolean; readonly upgrade?: string; readonly thenEnd?: boolean };

function read(pieces: readonly string[], expected: Expected = {}, owned = false): unknown[] {
  const recorder = new EventRecorder();
  const reader = new ResponseReader(recorder);
  reader.begin({ toHead: expected.toHead ?? false, upgrade: expected.upgrade });
  for (const piece of pieces) {
    reader.read({ owned, bytes: Buffer.from(piece, "latin1") });
  }
  if (expected.thenEnd === true) reader.end();
  return recorder.events;
}

const head = (
  status: number,
  headers: HeaderList = [],
  length?: number,
  bodyless = false,
): Listed<ResponseHead> => ({
  status,
  headers,
  length,
  bodyless,
});

describe("ResponseReader", () => {
  const cases: { name: string; text: string; expected?: Expected; events: unknown[] }[] = [
    {
      name: "a body with a length",
      text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      events: [
        ["head", head(200, ["Content-Length", "5"], 5), true],
        ["complete", "hello", undefined, true],
      ],
    },
    {
      name: "an empty body",
      text: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
      events: [
        ["head", head(200, ["Content-Length", "0"], 0), true],
        ["complete", "", undefined, true],
      ],
    },
    {
      name: "a chunked body with trailers after informational heads",
      text:
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" +
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nSum: 1\r\n\r\n",
      events: [
        ["informational", 103, ["Link", "</a>"]],
        ["informational", 100, []],
        ["head", head(200), true],
        ["complete", "hello", ["Sum", "1"], true],
      ],
    },
    {
      name: "a body that ends with the connection",
      text: "HTTP/1.0 200 OK\r\nA: b\r\n\r\nhello",
      expected: { thenEnd: true },
      events: [
        ["head", head(200, ["A", "b"]), false],
        ["complete", "hello", undefined, false],
      ],
    },
    {
      name: "the answer to HEAD",
      text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
      expected: { toHead: true },
      events: [
        ["head", head(200, ["Content-Length", "5"], 5, true), true],
        ["complete", "", undefined, true],
      ],
    },
    {
      name: "the answer to HEAD with a chunked coding",
      text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      expected: { toHead: true },
      events: [
        ["head", head(200, [], undefined, true), true],
        ["complete", "", undefined, true],
      ],
    },
    {
      name: "304 with a length",
      text: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
      events: [
        ["head", head(304, ["Content-Length", "5"], 5, true), true],
        ["complete", "", undefined, true],
      ],
    },
    {
      name: "204",
      text: "HTTP/1.1 204 No Content\r\n\r\n",
      events: [
        ["head", head(204, [], undefined, true), true],
        ["complete", "", undefined, true],
      ],
    },
    {
      name: "an upgrade",
      text: "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: y\r\n\r\n",
      expected: { upgrade: "websocket" },
      events: [["upgrade", ["Sec-WebSocket-Accept", "y"], ""]],
    },
    {
      name: "a body cut short",
      text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
      expected: { thenEnd: true },
      events: [["head", head(200, ["Content-Length", "5"], 5), true], ["truncated"]],
    },
    {
      name: "a chunked body without its last chunk",
      text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      expected: { thenEnd: true },
      events: [["head", head(200), true], ["truncated"]],
    },
    {
      name: "a head cut short",
      text: "HTTP/1.1 200 OK\r\nConten",
      expected: { thenEnd: true },
      events: [["truncated"]],
    },
    {
      name: "a bad chunk",
      text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
      events: [
        ["head", head(200), true],
        ["invalid", "invalid chunked body"],
      ],
    },
    {
      name: "a line that ends in a bare LF",
      text: "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
      events: [["invalid", "invalid response header"]],
    },
    {
      name: "another protocol",
      text: "SSH-2.0-OpenSSH_9.2\r\n",
      events: [["invalid", "invalid status line"]],
    },
    {
      name: "an upgrade that was not requested",
      text: "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
      events: [["invalid", "unexpected upgrade"]],
    },
    {
      name: "an upgrade to another protocol than the one asked for",
      text: "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
      expected: { upgrade: "websocket" },
      events: [["invalid", "unexpected upgrade"]],
    },
    {
      name: "an upgrade to two protocols",
      text: "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket, h2c\r\n\r\n",
      expected: { upgrade: "websocket" },
      events: [["invalid", "unexpected upgrade"]],
    },
    {
      name: "an upgrade without its fields",
      text: "HTTP/1.1 101 x\r\n\r\n",
      expected: { upgrade: "websocket" },
      events: [["invalid", "unexpected upgrade"]],
    },
  ];

  for (const { name, text, expected, events } of cases) {
    it(`ResponseReader reads ${name}, in any pieces`, () => {
      expect(read([text], expected), "whole").to.deep.equal(events);
      expect(read([text], expected, true), "whole, owned").to.deep.equal(events);
      expect(read([...text], expected), "byte by byte").to.deep.equal(events);
      for (let at = 1; at < text.length; at++) {
        expect(read([text.slice(0, at), text.slice(at)], expected), `cut at ${at}`).to.deep.equal(events);
      }
    });
  }

  it("ResponseReader says of a message with a length, and of one without a body, whether its end comes in the same read", () => {
    const wholesOf = (pieces: readonly string[], toHead = false) => {
      const recorder = new EventRecorder();
      const reader = new ResponseReader(recorder);
      reader.begin({ toHead, upgrade: undefined });
      const before: boolean[] = [];
      for (const piece of pieces) {
        reader.read({ owned: false, bytes: Buffer.from(piece, "latin1") });
        before.push(recorder.wholes[0]?.ended ?? false);
      }
      const said = recorder.wholes[0]?.said;
      return { said, sameRead: before[before.indexOf(true) - 1] !== false };
    };
    const start = "HTTP/1.1 200 OK\r\n";
    const whole = { said: true, sameRead: true };
    const inParts = { said: false, sameRead: false };
    expect(wholesOf([`${start}Content-Length: 2\r\n\r\nok`]), "whole").to.deep.equal(whole);
    expect(wholesOf([`${start}Content-Length: 0\r\n\r\n`]), "empty").to.deep.equal(whole);
    expect(wholesOf([`${start}Content-Length: 2\r\n\r\n`], true), "HEAD").to.deep.equal(whole);
    expect(wholesOf(["HTTP/1.1 204 x\r\n\r\n"]), "204").to.deep.equal(whole);
    expect(wholesOf([`${start}Content-Length: 2\r\n\r\no`, "k"]), "cut").to.deep.equal(inParts);
    expect(wholesOf([`${start}Content-Length: 2\r\n\r\n`, "ok"]), "head first").to.deep.equal(inParts);
    const chunked = `${start}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`;
    expect(wholesOf([chunked]).said, "a chunked one may go on").to.equal(false);
  });

  it("ResponseReader reads large bodies in any framing", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200_000 }),
        fc.array(fc.nat(200_000)),
        fc.boolean(),
        (size, marks, chunked) => {
          const body = "0123456789abcdef".repeat(size / 16 + 1).slice(0, size);
          const text = chunked
            ? `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`
            : `HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n${body}`;
          const cuts = [0, ...marks.map((mark) => mark % text.length).sort((a, b) => a - b), text.length];
          const pieces = cuts.slice(1).map((end, index) => text.slice(cuts[index], end));
          const last = read(pieces).at(-1) as unknown[];
          expect(last[1] === body).to.equal(true);
          expect(last[3]).to.equal(true);
        },
      ),
      { numRuns: 30 },
    );
  });

  describe("bytes after the message", () => {
    const next = "HTTP/1.1 200 OK\r\n\r\n";
    const messages: [string, Expected][] = [
      ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", {}],
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {}],
      ["HTTP/1.1 204 x\r\n\r\n", {}],
      ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", { toHead: true }],
    ];
    for (const [message, expected] of messages) {
      it(`bytes after the message make the connection unusable: ${JSON.stringify(message)}`, () => {
        const events = read([message + next], expected);
        expect(events).to.have.length(2);
        expect((events[1] as unknown[])[3]).to.equal(false);
      });
    }
    it("bytes on an idle connection make it invalid", () => {
      const events = read(["HTTP/1.1 204 x\r\n\r\n", next]);
      expect(events.at(-1)).to.deep.equal(["invalid", "unexpected data from upstream"]);
    });
  });

  it("ResponseReader limits the number of informational heads", () => {
    const flood = (count: number) => "HTTP/1.1 103 x\r\n\r\n".repeat(count) + "HTTP/1.1 204 x\r\n\r\n";
    expect(read([flood(32)]).at(-1)).to.deep.equal(["complete", "", undefined, true]);
    expect(read([flood(33)]).at(-1)).to.deep.equal(["invalid", "too many informational responses"]);
  });

  it("ResponseReader limits the size of all informational heads together to that of one head", () => {
    const hint = `HTTP/1.1 103 x\r\nLink: ${"x".repeat(16_384 - 26)}\r\n\r\n`;
    expect(hint).to.have.length(16_384);
    const hints = (count: number) => `${hint.repeat(count)}HTTP/1.1 204 x\r\n\r\n`;
    expect(read([hints(4)]).at(-1)).to.deep.equal(["complete", "", undefined, true]);
    expect(read([hints(5)]).at(-1)).to.deep.equal(["invalid", "too many informational responses"]);
  });

  it("ResponseReader limits the size of the head, in one piece or many", () => {
    const withValue = (size: number) => `HTTP/1.1 204 x\r\nA: ${"x".repeat(size)}\r\n\r\n`;
    const room = 65_536 - withValue(0).length;
    const inPieces = (text: string) => text.match(/[^]{1,1000}/g) as string[];
    const ways = (text: string) => [[text], inPieces(text), [text.slice(0, 1), text.slice(1)]];
    for (const pieces of ways(withValue(room))) {
      expect(read(pieces).at(-1)).to.deep.equal(["complete", "", undefined, true]);
    }
    for (const pieces of ways(withValue(room + 1))) {
      expect(read(pieces)).to.deep.equal([["invalid", "response head too large"]]);
    }
  });

  for (const takesViews of [true, false]) {
    it(`ResponseReader passes large pieces of memory that is read into again ${takesViews ? "as views to a receiver that copies" : "as copies to one that does not"}`, () => {
      const recorder = new EventRecorder();
      recorder.takesViews = takesViews;
      const kept: Chunk[] = [];
      recorder.onData = (chunk) => kept.push(chunk) > 0;
      const reader = new ResponseReader(recorder);
      reader.begin({ toHead: false, upgrade: undefined });
      const start = "HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n";
      const bytes = Buffer.from(start + "x".repeat(59_000), "latin1");
      reader.read({ owned: false, bytes });
      reader.read({ owned: false, bytes: bytes.subarray(start.length, start.length + 1000) });
      expect(kept.map(({ length }) => length)).to.deep.equal([59_000, 1000]);
      expect((kept[0] as Buffer).buffer === bytes.buffer).to.equal(takesViews);
      expect(kept[1]).to.equal("x".repeat(1000));
    });
  }

  it("ResponseReader reports nothing more once it is stopped from an event", () => {
    const recorder = new EventRecorder();
    const reader = new ResponseReader(recorder);
    recorder.onHead = () => reader.stop();
    reader.begin({ toHead: false, upgrade: undefined });
    const text = Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    expect(reader.read({ owned: false, bytes: text })).to.equal(false);
    expect(reader.read({ owned: false, bytes: text })).to.equal(false);
    reader.end();
    expect([recorder.events, recorder.body]).to.deep.equal([[], ""]);
  });

  it("responses of one connection are read as each would be on a connection of its own", () => {
    const texts = [
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\ncd",
      "HTTP/1.1 201 OK\r\nContent-Length: 2\r\n\r\ncd",
      "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=9\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...texts), { maxLength: 12 }), (sent) => {
        const recorder = new EventRecorder();
        const reader = new ResponseReader(recorder);
        for (const text of sent) {
          recorder.body = "";
          reader.begin({ toHead: false, upgrade: undefined });
          reader.read({ owned: false, bytes: Buffer.from(text, "latin1") });
        }
        expect(recorder.events).to.deep.equal(sent.flatMap((text) => read([text])));
      }),
    );
  });
});
