import { type OnReadOpts, Socket } from "node:net";
import { expect } from "chai";
import fc from "fast-check";
import { ResponseMemory } from "../../src/http/response-memory.ts";
import { parseProxyHeader } from "../../src/listeners/proxy-protocol/header.ts";
import type { Chunk, HeaderList, ResponseHead } from "../../src/message/message.ts";
import { ReadBuffer } from "../../src/sockets/read-buffer.ts";
import { nodeSockets } from "../../src/sockets/socket-layer.ts";
import type { Transport } from "../../src/sockets/transport.ts";
import { joinTunnel } from "../../src/sockets/tunnel.ts";
import { peekClientHello } from "../../src/tls/client-hello.ts";
import { type ResponseEvents, ResponseReader } from "../../src/upstream/h1/response-reader.ts";
import { addresses, version2 } from "../listeners/proxy-protocol/headers.ts";
import { isTainted, memoryOf, stale, staleMemory } from "./stale-memory.ts";
import type { Fields } from "../../src/message/fields.ts";
import { listed } from "../message/listed.ts";

/** The same messages in each run; SEED=<integer> makes others. */
const seed = Number(process.env["SEED"] ?? 9112);
const runs = Number(process.env["RUNS"] ?? 1000);

/** Everything that a reader reported, as text in which pieces of a body make no difference. */
class RecordedEvents implements ResponseEvents {
  text = "";
  isOver = false;
  readonly takesViews: boolean;
  constructor(takesViews = false) {
    this.takesViews = takesViews;
  }
  private tell(...what: readonly unknown[]): void {
    this.text += `\n${JSON.stringify(what)}`;
  }
  onInformational(status: number, headers: HeaderList): void {
    this.tell("informational", status, headers);
  }
  onHead(head: ResponseHead, keepAlive: boolean): void {
    // Whether the end came with the head depends on the cuts.
    const { isWhole: _, ...rest } = listed(head);
    this.tell("head", rest, keepAlive);
    this.tell("lines", head.headers.linesText());
    this.text += "\n";
  }
  onData(chunk: Chunk): boolean {
    this.text += typeof chunk === "string" ? chunk : chunk.toString("latin1");
    return true;
  }
  onComplete(trailers: HeaderList | undefined): void {
    this.tell("complete", trailers);
    this.isOver = true;
  }
  onUpgrade(headers: Fields, rest: Buffer): void {
    // What comes behind the head belongs to the tunnel, and how much of it came with the head is chance.
    this.tell("upgrade", headers.toList());
    if (!rest.every((byte) => byte === 0x74)) this.tell(rest.toString("latin1"));
    this.isOver = true;
  }
  onInvalid(text: string): void {
    this.tell("invalid", text);
    this.isOver = true;
  }
  onTruncated(): void {
    this.tell("truncated");
    this.isOver = true;
  }
}

const lengths = fc.oneof(fc.nat(40), fc.nat(2000), fc.nat(20_000), fc.nat(50_000));
const field = fc
  .tuple(fc.constantFrom("X-A", "Set-Cookie", "ETag", "X-Long"), fc.oneof(fc.nat(40), fc.nat(9000)))
  .map(([name, length]) => `${name}: ${"v".repeat(length)}\r\n`);
const fields = fc
  .oneof(
    fc.array(field, { maxLength: 4 }),
    lengths.map((length) => [`X-Big: ${"b".repeat(length)}\r\n`]),
  )
  .map((lines) => lines.join(""));
const chunkOf = (length: number): string => `${length.toString(16)};e="x"\r\n${"c".repeat(length)}\r\n`;

const messages: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(
      fields.map((lines) => `HTTP/1.1 103 Early Hints\r\n${lines}\r\n`),
      { maxLength: 2 },
    ),
    fc.oneof(
      fc
        .tuple(fields, lengths)
        .map(
          ([lines, length]) =>
            `HTTP/1.1 200 OK\r\n${lines}Content-Length: ${length}\r\n\r\n${"l".repeat(length)}`,
        ),
      fc
        .tuple(fields, fc.array(fc.integer({ min: 1, max: 30_000 }), { maxLength: 4 }), fields)
        .map(
          ([lines, chunks, trailers]) =>
            `HTTP/1.1 200 OK\r\n${lines}Transfer-Encoding: chunked\r\n\r\n${chunks.map(chunkOf).join("")}0\r\n${trailers}\r\n`,
        ),
      fc
        .tuple(fields, lengths)
        .map(([lines, length]) => `HTTP/1.0 200 OK\r\n${lines}\r\n${"u".repeat(length)}`),
      fc
        .tuple(fields, lengths)
        .map(
          ([lines, length]) =>
            `HTTP/1.1 101 x\r\n${lines}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n${"t".repeat(length)}`,
        ),
      // Unfinished, or broken: nothing may complete or repair it.
      fc
        .tuple(fields, lengths)
        .map(([lines, length]) => `HTTP/1.1 200 OK\r\n${lines}X: ${"h".repeat(length)}`),
      lengths.map(
        (length) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"f".repeat(length % 12)}`,
      ),
      fc
        .tuple(fields, lengths)
        .map(([lines, length]) => `HTTP/1.1 200 OK\r\n${lines}Bad ${"x".repeat(length)}`),
    ),
  )
  .map((parts) => parts.flat().join(""));

/** The positions at which a message is cut; without any, each piece fills the memory of a read. */
const cuts = fc.oneof(fc.constant([]), fc.array(fc.nat(), { maxLength: 6 }));

function piecesOf(text: string, at: readonly number[]): readonly Buffer[] {
  const marks = [...new Set(at.map((mark) => mark % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...marks].map((mark, index) =>
    Buffer.from(text.slice(mark, marks[index] ?? text.length), "latin1"),
  );
}

/** Plays the socket: pieces arrive in the memory that the reader offers. */
function arrive(pieces: readonly Buffer[], { buffer, callback }: ReturnType<ReadBuffer["onread"]>): void {
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const into = memoryOf(buffer);
      const length = piece.copy(into, 0, at);
      callback(length, into);
      at += length;
    }
  }
}

const reader = (events: RecordedEvents): ResponseReader => {
  const made = new ResponseReader(events);
  made.begin({ toHead: false, upgrade: "websocket" });
  return made;
};

/** The report about a message that arrives in one piece of its own. */
function eventsOf(text: string): string {
  const events = new RecordedEvents();
  const whole = reader(events);
  whole.read({ owned: false, bytes: Buffer.from(text, "latin1") });
  if (!events.isOver) whole.end();
  return events.text;
}

const noReceiver = { receive: () => {}, ended: () => {}, taken: () => {}, closed: () => {} };

/** A connection that takes all that is written to it. */
class FakeTransport implements Transport {
  readonly holdsBack = false;
  readonly hasUnread = false;
  readonly ended = false;
  readonly writable = true;
  readonly finished = false;
  readonly takesViews: boolean;
  readonly takenBytes = 0;
  text = "";
  private readonly waiting: readonly (number | undefined)[];
  private turn = 0;

  /** `waiting`: how much is said to wait after each write; undefined as with TLS. */
  constructor(waiting: readonly (number | undefined)[]) {
    this.waiting = waiting;
    this.takesViews = waiting[0] === 0;
  }

  get reportsLate(): boolean {
    return this.said === undefined;
  }
  get waitingBytes(): number {
    return this.said ?? 1;
  }
  private get said(): number | undefined {
    return this.waiting[this.turn % this.waiting.length];
  }
  writeBytes(_before: string, bytes: Buffer): void {
    this.text += bytes.toString("latin1");
    this.turn++;
  }
  start(): void {}
  writeText(): void {}
  lendBytes(): void {}
  whenTaken(): void {}
  pause(): void {}
  resume(): void {}
  end(): void {}
  destroy(): void {}
  reset(): void {}
  whenClosed(): void {}
}

describe("readers of memory that is read into again", function () {
  this.timeout(120_000);
  let restore: () => void;
  before(() => {
    restore = staleMemory();
  });
  after(() => restore());

  it("readers of a response give the same result for any cuts, and nothing that memory held before", () => {
    fc.assert(
      fc.property(messages, cuts, fc.constantFrom(0, 1, undefined, "copies" as const), (text, at, held) => {
        const memory = new ReadBuffer();
        const copies = held === "copies";
        const heldBytes = held === "copies" ? undefined : held;
        const events = new RecordedEvents(copies);
        const cut = reader(events);
        const socket = memory.onread((piece) => {
          if (events.isOver) return false;
          const more = cut.read(piece);
          const { announcedBytes } = cut;
          if (announcedBytes === undefined) memory.reset(heldBytes);
          else if (copies) memory.stayShared(more, undefined);
          else memory.settle(announcedBytes, heldBytes, more);
          return more;
        });
        arrive(piecesOf(text, at), socket);
        if (!events.isOver) cut.end();
        expect(isTainted(events.text), events.text.slice(0, 500)).to.equal(false);
        // Of what breaks the rules the reason may be found earlier or later.
        if (!events.text.includes('"invalid"')) expect(events.text).to.equal(eventsOf(text));
      }),
      { numRuns: runs, seed },
    );
  });

  it("a tunnel relays only bytes that were read, with any count of those that wait at its other end", () => {
    fc.assert(
      fc.property(
        fc.array(lengths, { minLength: 1, maxLength: 12 }),
        fc.array(fc.constantFrom(0, 1, undefined), { minLength: 1 }),
        (sizes, answers) => {
          const memory = new ReadBuffer();
          // Takes everything at once, so that nothing is held, with any reported count.
          const client = new FakeTransport(answers);
          const dialling = nodeSockets.dial(memory, noReceiver, false);
          joinTunnel(
            { transport: client, head: Buffer.alloc(0) },
            { transport: dialling.opened(new Socket()), head: Buffer.alloc(0), memory },
            { onProgress: () => {}, onEnd: () => {} },
            new ResponseMemory(),
          );
          const pieces = sizes.map((size, index) =>
            Buffer.alloc(size * 4, String.fromCharCode(65 + (index % 20))),
          );
          arrive(pieces, dialling.onread as OnReadOpts);
          expect(isTainted(client.text)).to.equal(false);
          expect(client.text === Buffer.concat(pieces).toString("latin1")).to.equal(true);
        },
      ),
      { numRuns: runs / 10, seed },
    );
  });

  /** The first bytes of a text, in memory that contains stale bytes before and after them. */
  const viewOf = (bytes: Buffer, length: number): Buffer => {
    const memory = Buffer.alloc(bytes.length + 2 * stale.length, stale);
    bytes.copy(memory, stale.length, 0, length);
    return memory.subarray(stale.length, stale.length + length);
  };

  const firstBytes: readonly (readonly [what: string, bytes: Buffer, read: (bytes: Buffer) => unknown])[] = [
    ["PROXY header of version 1", Buffer.from("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"), parseProxyHeader],
    [
      "PROXY header of version 2",
      version2(addresses([192, 0, 2, 1], 5), { transport: 0x11 }),
      parseProxyHeader,
    ],
    ["ClientHello", clientHello(), peekClientHello],
  ];
  for (const [what, bytes, read] of firstBytes) {
    it(`a ${what} that is cut anywhere is read as if nothing followed it`, () => {
      for (let length = 0; length <= bytes.length; length++) {
        expect(read(viewOf(bytes, length)), `${length}`).to.deep.equal(
          read(Buffer.from(bytes.subarray(0, length))),
        );
      }
    });
  }
});

/** A ClientHello of TLS 1.2 with a server name, in one record. */
function clientHello(): Buffer {
  const name = Buffer.from("a.example");
  const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
  const sized = (body: Buffer): Buffer => Buffer.concat([u16(body.length), body]);
  const serverName = Buffer.concat([u16(0), sized(sized(Buffer.concat([Buffer.from([0]), sized(name)])))]);
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    Buffer.from([0]),
    sized(u16(0x1301)),
    Buffer.from([1, 0]),
    sized(serverName),
  ]);
  const message = Buffer.concat([Buffer.from([1, 0]), sized(body)]);
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(message)]);
}
