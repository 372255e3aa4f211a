import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import fc from "fast-check";
import { startStrictBackend } from "../differential/strict-backend.ts";
import { eventually, exchange, startGateway, type Gateway } from "../integration/gateway.ts";
import { getOverHttp2 } from "../integration/http2-client.ts";
import {
  field,
  flags as flag,
  frame,
  frameTypes,
  preface,
  RawPeer,
  uint32,
  type Frame,
} from "../http/h2/frames.ts";
import { describeHttp2Codecs } from "../http2-codecs.ts";

/** The same frames in each run; SEED=<integer> makes others. */
const seed = Number(process.env["SEED"] ?? 9113);
const connections = Number(process.env["RUNS"] ?? 250);

const {
  data,
  headers,
  priority,
  rstStream,
  settings,
  pushPromise,
  ping,
  goaway,
  windowUpdate,
  continuation,
} = frameTypes;

/** RFC 9218 7.1. */
const priorityUpdate = 16;

type Fields = readonly (readonly [string, string])[];

const pseudo: Fields = [
  [":method", "GET"],
  [":scheme", "http"],
  [":authority", "a.example"],
  [":path", "/x"],
];

/** Field sections: those of requests, and those that no server may take for one. */
const sections: fc.Arbitrary<Fields> = fc
  .record({
    pseudo: fc.oneof(
      { weight: 30, arbitrary: fc.constant(pseudo) },
      {
        weight: 4,
        arbitrary: fc
          .constantFrom("POST", "HEAD", "CONNECT", "OPTIONS", "TRACE", "PRI", "G ET", "GET / HTTP/1.1\r\nX:")
          .map((method): Fields => pseudo.with(0, [":method", method])),
      },
      {
        weight: 4,
        arbitrary: fc
          .constantFrom(
            "/a/../b",
            "/%2e%2e/x",
            "*",
            "",
            "x",
            "/a b",
            "/\r\nX: y",
            "/a#b",
            "/%00",
            "http://b.example/",
            "/a\\..\\b",
            "//x",
            "/;x=/..",
          )
          .map((path): Fields => pseudo.with(3, [":path", path])),
      },
      {
        weight: 3,
        arbitrary: fc
          .constantFrom(
            "b.example",
            "",
            "a.example:80",
            "u@a.example",
            "a.example\r\nX: y",
            "[::1",
            "A.Example.",
            "a.example a.example",
          )
          .map((authority): Fields => pseudo.with(2, [":authority", authority])),
      },
      { weight: 1, arbitrary: fc.shuffledSubarray([...pseudo, ...pseudo]) },
      { weight: 1, arbitrary: fc.constant<Fields>([...pseudo, [":protocol", "websocket"]]) },
      { weight: 1, arbitrary: fc.constant<Fields>([[":status", "200"]]) },
    ),
    others: fc.array(
      fc.constantFrom<readonly [string, string]>(
        ["x-t", "v"],
        ["accept", "*/*"],
        ["user-agent", "x"],
        ["x-t", "v"],
        ["x-t", ""],
        ["X-Upper", "v"],
        ["x t", "v"],
        ["x-t", "a\r\nb: c"],
        ["x-t", "a\0b"],
        ["x-t", " v "],
        ["", "v"],
        ["connection", "close"],
        ["transfer-encoding", "chunked"],
        ["upgrade", "websocket"],
        ["te", "trailers"],
        ["te", "gzip"],
        ["host", "a.example"],
        ["host", "b.example"],
        ["content-length", "0"],
        ["content-length", "5"],
        ["content-length", "-1"],
        ["content-length", "99999999999999999999"],
        ["expect", "100-continue"],
        ["expect", "x"],
        ["cookie", "a=b"],
        ["cookie", "c=d"],
        ["x-forwarded-for", "1.2.3.4"],
        ["x_forwarded_for", "1.2.3.4"],
        ["content-type", "application/grpc"],
        [":path", "/late"],
        ["x-long", "v".repeat(9000)],
      ),
      { maxLength: 2 },
    ),
  })
  .map(({ pseudo: first, others }) => [...first, ...others]);

const streamIds = fc.oneof(
  { weight: 60, arbitrary: fc.integer({ min: 0, max: 40 }).map((index) => 2 * index + 1) },
  { weight: 2, arbitrary: fc.constantFrom(0, 2, 4, 0x7fff_ffff, 0x8000_0001) },
);
const noise = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));

const anyFlags = fc.oneof(
  { weight: 40, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }) },
);

const requestFrames = fc
  .record({
    streamId: streamIds,
    fields: sections,
    end: fc.boolean(),
    cut: fc.nat({ max: 40 }),
    padded: fc.boolean(),
  })
  .map(({ streamId, fields, end, cut, padded }): readonly Frame[] => {
    const block = Buffer.concat(fields.map(([name, value]) => field(name, value)));
    const ending = end ? flag.endStream : 0;
    if (cut < 36) {
      const payload = padded ? Buffer.concat([Buffer.of(cut), block, Buffer.alloc(cut)]) : block;
      return [
        { type: headers, flags: flag.endHeaders | ending | (padded ? flag.padded : 0), streamId, payload },
      ];
    }
    const at = Math.min(block.length, cut);
    return [
      { type: headers, flags: ending, streamId, payload: block.subarray(0, at) },
      { type: continuation, flags: cut === 40 ? 0 : flag.endHeaders, streamId, payload: block.subarray(at) },
    ];
  });

const otherFrame = fc
  .oneof(
    fc.record({
      type: fc.constant(data),
      streamId: streamIds,
      flags: fc.constantFrom(0, flag.endStream, flag.padded, flag.padded | flag.endStream),
      payload: noise,
    }),
    fc.record({
      type: fc.constant(rstStream),
      streamId: streamIds,
      flags: fc.constant(0),
      payload: fc.oneof(fc.constantFrom(0, 1, 5, 8, 0xffff_ffff).map(uint32), noise),
    }),
    fc.record({
      type: fc.constant(settings),
      streamId: fc.constantFrom(0, 0, 0, 1),
      flags: fc.constantFrom(0, 0, 0, flag.ack),
      payload: fc.oneof(
        fc
          .tuple(
            fc.constantFrom(1, 2, 3, 4, 5, 6, 8, 77),
            fc.constantFrom(0, 1, 100, 16_384, 65_535, 0x7fff_ffff, 0xffff_ffff),
          )
          .map(([id, value]) => Buffer.concat([Buffer.of(0, id), uint32(value)])),
        noise,
      ),
    }),
    fc.record({
      type: fc.constant(ping),
      streamId: fc.constantFrom(0, 0, 1),
      flags: fc.constantFrom(0, flag.ack),
      payload: fc.oneof(fc.constant(Buffer.alloc(8)), noise),
    }),
    fc.record({
      type: fc.constant(windowUpdate),
      streamId: fc.oneof(fc.constant(0), streamIds),
      flags: fc.constant(0),
      payload: fc.oneof(fc.constantFrom(0, 1, 65_535, 0x7fff_ffff, 0xffff_ffff).map(uint32), noise),
    }),
    fc.record({
      type: fc.constantFrom(priority, pushPromise, goaway, continuation, 10, 12, 16, 255),
      streamId: fc.oneof(fc.constant(0), streamIds),
      flags: fc.constantFrom(0, 4, 5),
      payload: noise,
    }),
  )
  .map((one): readonly Frame[] => [one]);

/** Frames that clients may send at any time, on streams that can be open, closed or new. */
const allowedFrame = fc
  .oneof(
    fc.constant<Frame>({ type: ping, flags: 0, streamId: 0, payload: Buffer.alloc(8) }),
    fc
      .constantFrom([3, 7], [4, 0], [4, 100_000], [1, 0], [77, 1])
      .map(([id, value]) => Buffer.concat([Buffer.of(0, id ?? 0), uint32(value ?? 0)]))
      .map((payload): Frame => ({ type: settings, flags: 0, streamId: 0, payload })),
    fc
      .tuple(fc.constantFrom(0, 1, 3, 5), fc.constantFrom(1, 65_535))
      .map(([streamId, by]): Frame => ({ type: windowUpdate, flags: 0, streamId, payload: uint32(by) })),
    streamIds.map((streamId): Frame => ({
      type: priority,
      flags: 0,
      streamId,
      payload: Buffer.of(0, 0, 0, 0, 9),
    })),
    noise.map((payload): Frame => ({ type: 255, flags: 0, streamId: 0, payload })),
    fc
      .tuple(streamIds, fc.constantFrom(0, flag.endStream))
      .map(([streamId, flags]): Frame => ({ type: data, flags, streamId, payload: Buffer.from("hello") })),
    streamIds.map((streamId): Frame => ({ type: rstStream, flags: 0, streamId, payload: uint32(8) })),
    fc
      .tuple(streamIds, fc.constantFrom("u=1", "u=0, i", "", "u=9", "u=1,", "\0", "x".repeat(300)))
      .map(([id, value]) => Buffer.concat([uint32(id), Buffer.from(value, "latin1")]))
      .map((payload): Frame => ({ type: priorityUpdate, flags: 0, streamId: 0, payload })),
  )
  .map((one): readonly Frame[] => [one]);

const script = fc.record({
  frames: fc.array(
    fc
      .tuple(
        fc.oneof(
          { weight: 12, arbitrary: requestFrames },
          { weight: 6, arbitrary: allowedFrame },
          { weight: 2, arbitrary: otherFrame },
        ),
        anyFlags,
      )
      .map(([frames, flags]) => (flags === undefined ? frames : frames.map((one) => ({ ...one, flags })))),
    { minLength: 1, maxLength: 16 },
  ),
  /** The offsets at which the bytes are cut into pieces that are sent separately. */
  cuts: fc.array(fc.nat({ max: 1200 }), { maxLength: 4 }),
  /** How the client leaves, and after how many of its bytes. */
  leaves: fc.constantFrom("end", "reset", "goaway"),
  turns: fc.constantFrom(0, 40, 40),
  until: fc.oneof(
    { weight: 4, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
    { weight: 1, arbitrary: fc.nat({ max: 900 }) },
  ),
});

/** Most frames get the number of the next stream or the last one, as those of honest clients; some keep theirs. */
function numbered(frames: readonly (readonly Frame[])[]): readonly Frame[] {
  let next = 1;
  return frames.flatMap((ofOne) => {
    const [first] = ofOne;
    if (first === undefined || first.streamId === 0 || first.streamId % 7 === 0) return ofOne;
    if (first.type !== headers) return next === 1 ? [] : [{ ...first, streamId: next - 2 }];
    const streamId = next;
    next += 2;
    return ofOne.map((one) => ({ ...one, streamId }));
  });
}

describeHttp2Codecs("generated HTTP/2 frames of clients", function (codec) {
  this.timeout(120_000);
  let gateway: Gateway;
  let backend: Awaited<ReturnType<typeof startStrictBackend>>;
  const faults: string[] = [];
  const seen: string[] = [];

  before(async () => {
    backend = await startStrictBackend(faults, ({ target, fields }) => {
      seen.push(target);
      const names = fields.map(([name]) => name);
      for (const name of ["connection", "te", "upgrade", "keep-alive", "x_forwarded_for"])
        if (names.includes(name)) faults.push(`${name} went on`);
      const forwarded = fields.filter(([name]) => name === "x-forwarded-for");
      if (forwarded.length !== 1 || forwarded[0]?.[1] !== "127.0.0.1")
        faults.push(`X-Forwarded-For ${JSON.stringify(forwarded)}`);
      if (/[^!-~]|#|\/\.\.?(?:\/|$)|\\/.test(target)) faults.push(`target ${JSON.stringify(target)}`);
      return "ok";
    });
    gateway = await startGateway({ ports: [backend.port] }, [
      "--proxy-client-body-timeout=2s",
      "--proxy-client-write-timeout=2s",
    ]);
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const open = (): number => gateway.metrics.connectionsActive.with({ listener: "80" }).value;

  it("random HTTP/2 clients leave no resource behind, and only well-formed requests reach backends", async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", onWarning);
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(script, async ({ frames, cuts, leaves, turns, until }) => {
        const first: Frame = { type: settings, flags: 0, streamId: 0, payload: Buffer.alloc(0) };
        const last: Frame = { type: goaway, flags: 0, streamId: 0, payload: Buffer.alloc(8) };
        const all = [first, ...numbered(frames), ...(leaves === "goaway" ? [last] : [])].map(
          ({ type, flags, streamId, payload }) => frame(type, flags, streamId, payload),
        );
        const bytes = Buffer.concat([preface, ...all]).subarray(0, until);
        const socket = connect({ host: "127.0.0.1", port: gateway.port });
        const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
        const peer = new RawPeer(socket, { asServer: false });
        await once(socket, "connect");
        let at = 0;
        for (const cut of [...cuts].sort((a, b) => a - b)) {
          if (cut > at && cut < bytes.length) {
            socket.write(bytes.subarray(at, cut));
            at = cut;
            await new Promise((resolve) => setImmediate(resolve));
          }
        }
        if (leaves === "reset") {
          await new Promise<void>((resolve) => socket.write(bytes.subarray(at), () => resolve()));
          socket.resetAndDestroy();
        } else {
          socket.write(bytes.subarray(at));
          // What is whole is answered before the client leaves; most clients leave in the middle of something.
          for (let turn = 0; turn < turns && !socket.closed; turn++)
            await new Promise((resolve) => setImmediate(resolve));
          socket.end();
        }
        await closed;
        await eventually(() => open() === 0);
        const ended = new Set<number>();
        for (const { type, streamId, flags } of peer.frames) {
          if (type !== headers && type !== data) continue;
          expect(ended.has(streamId), `nothing after the end of stream ${streamId}`).to.equal(false);
          if ((flags & flag.endStream) !== 0) ended.add(streamId);
        }
        answered += ended.size;
        expect(faults).to.deep.equal([]);
      }),
      { numRuns: connections, seed },
    );
    process.off("warning", onWarning);
    expect(warnings).to.deep.equal([]);
    // The native codec ends a connection on which a frame comes for a stream that its client has ended.
    const share = codec === "node" ? 1 : 1.5;
    expect(share * answered, "requests that were answered").to.be.greaterThan(connections / 10);
    expect(share * seen.length, "requests that reached the backend").to.be.greaterThan(connections / 8);
    expect((await getOverHttp2(gateway.port, "a.example")).status).to.equal(200);
    expect(
      await exchange(gateway.port, "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"),
    ).to.match(/^HTTP\/1\.1 200 /);
  });
});
