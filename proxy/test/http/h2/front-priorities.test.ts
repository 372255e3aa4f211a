import { expect } from "chai";
import { holdClock } from "../held-clock.ts";
import { flags, frame, frameTypes, type RawPeer, rawClient, requestFrame, uint32 } from "./frames.ts";
import { type FrontServer, type Received, startFront, streamingHead, until } from "./support.ts";

const protocolError = 1;
const frameSizeError = 6;
const enhanceYourCalm = 11;
const priorityUpdate = 16;
const frameBytes = 16_384;

const update = (streamId: number, value: string): Buffer =>
  frame(priorityUpdate, 0, 0, Buffer.concat([uint32(streamId), Buffer.from(value, "latin1")]));

describe("priorities of HTTP/2 (RFC 9218) on the native codec", () => {
  // Floods are counted over a window of some seconds, which must not end in the middle of a flood.
  holdClock();
  let server: FrontServer;
  let peer: RawPeer;

  beforeEach(async () => {
    server = await startFront("native");
    peer = rawClient(server.port);
    await peer.ofType(frameTypes.settings);
    // All windows are open except that of the connection, which has room for slightly less than four frames.
    const windows = Buffer.concat([Buffer.from([0, 4]), uint32(10_000_000)]);
    peer.send(frame(frameTypes.settings, flags.ack, 0), frame(frameTypes.settings, 0, 0, windows));
    await isAlive();
  });
  afterEach(async () => {
    peer.close();
    await server.close();
  });

  let questions = 0;
  const isAlive = async (): Promise<void> => {
    const question = Buffer.from(String(++questions).padStart(8, "!"));
    peer.send(frame(frameTypes.ping, 0, 0, question));
    await peer.frame((f) => f.type === frameTypes.ping && f.payload.equals(question));
  };
  const asking = (id: number, priority?: string): Buffer =>
    requestFrame(id, { end: true, fields: priority === undefined ? [] : [["priority", priority]] });
  const requests = async (count: number): Promise<readonly Received[]> => {
    await until(() => server.requests.length === count);
    return server.requests;
  };
  const useUpWindow = async (): Promise<void> => {
    peer.send(asking(1));
    const [one] = await requests(1);
    one?.client.sendHead(streamingHead());
    one?.client.write(Buffer.alloc(65_535));
    one?.client.end(undefined);
    await peer.frame((f) => f.streamId === 1 && (f.flags & flags.endStream) !== 0);
    server.requests.length = 0;
  };
  /** Opens the window for all waiting responses. */
  const give = async (responses: readonly Received[]): Promise<void> => {
    peer.send(frame(frameTypes.windowUpdate, 0, 0, uint32(responses.length * 2 * frameBytes)));
    const ended = (): number =>
      peer.frames.filter((f) => f.streamId > 1 && (f.flags & flags.endStream) !== 0).length;
    await peer.when(() => ended() === responses.length || undefined);
  };
  /** Returns the streams of the content received since the window was exhausted, in order and without repetitions. */
  const order = (): readonly number[] =>
    peer.frames
      .filter(({ type, streamId }) => type === frameTypes.data && streamId > 1)
      .map(({ streamId }) => streamId)
      .filter((id, index, all) => id !== all[index - 1]);
  const answerAll = (all: readonly Received[]): void => {
    for (const { client } of all) {
      client.sendHead(streamingHead());
      client.write("x".repeat(2 * frameBytes));
      client.end(undefined);
    }
  };

  it("responses of one urgency are sent in the order of their requests, then those that are incremental by turns", async () => {
    await useUpWindow();
    peer.send(asking(3, "i"), asking(5, "u=3"), asking(7), asking(9, "u=3"), asking(11, "u=2"));
    answerAll(await requests(5));
    await give(server.requests);
    expect(order()).to.deep.equal([11, 5, 9, 3, 7, 3, 7]);
  });

  it("PRIORITY_UPDATE moves a response that waits, and one of a stream that is not open yet overrides its field", async () => {
    await useUpWindow();
    peer.send(update(7, "u=0"), asking(3, "u=1"), asking(5, "u=2"), asking(7, "u=7"));
    answerAll(await requests(3));
    await isAlive();
    peer.send(update(3, "u=6"));
    await give(server.requests);
    expect(order()).to.deep.equal([7, 5, 3]);
    expect(server.events).to.deep.equal([]);
  });

  it("an update that leaves a parameter out sets it to its default, and one that is malformed changes nothing", async () => {
    await useUpWindow();
    peer.send(asking(3, "u=5"), asking(5, "u=4"), asking(7, "u=6"));
    answerAll(await requests(3));
    await isAlive();
    peer.send(update(3, ""), update(7, "u=0,"), update(7, "x".repeat(3000)));
    await give(server.requests);
    expect(order()).to.deep.equal([3, 5, 7]);
  });

  it("PRIORITY_UPDATE of a closed stream is ignored, and so is that of a stream that was skipped", async () => {
    await useUpWindow();
    peer.send(update(1, "u=0"), update(3, "u=0"), asking(5, "u=5"), asking(7));
    answerAll(await requests(2));
    await give(server.requests);
    expect(order()).to.deep.equal([7, 5]);
    expect(server.events).to.deep.equal([]);
  });

  for (const [what, bytes, code] of [
    ["on a stream", frame(priorityUpdate, 0, 1, Buffer.concat([uint32(1), Buffer.from("i")])), protocolError],
    ["for stream 0", update(0, "u=1"), protocolError],
    ["for a push that was never sent", update(2, "u=1"), protocolError],
    ["without a stream", frame(priorityUpdate, 0, 0, Buffer.alloc(3)), frameSizeError],
    [
      "for more streams than may be open",
      Buffer.concat(Array.from({ length: 101 }, (_, i) => update(2 * i + 1, "u=1"))),
      protocolError,
    ],
  ] as const) {
    it(`PRIORITY_UPDATE ${what} ends the connection`, async () => {
      peer.send(bytes);
      expect(await peer.goawayCode()).to.equal(code);
    });
  }

  it("priorities of as many streams as may be open are remembered, and repeated ones take no more room", async () => {
    for (let turn = 0; turn < 3; turn++)
      peer.send(...Array.from({ length: 100 }, (_, i) => update(2 * i + 1, `u=${turn}`)));
    await isAlive();
    expect(server.events).to.deep.equal([]);
  });

  it("a flood of PRIORITY_UPDATE ends the connection with ENHANCE_YOUR_CALM", async () => {
    peer.send(...Array.from({ length: 1100 }, (_, i) => update(1, `u=${i % 8}`)));
    expect(await peer.goawayCode()).to.equal(enhanceYourCalm);
    expect(server.events.map(({ reason }) => reason)).to.deep.equal(["control-flood"]);
  });

  it("SETTINGS say that priorities of RFC 7540 are not looked at", async () => {
    const { payload } = await peer.ofType(frameTypes.settings);
    const entries = Array.from({ length: payload.length / 6 }, (_, i) => [
      payload.readUInt16BE(6 * i),
      payload.readUInt32BE(6 * i + 2),
    ]);
    expect(entries).to.deep.include([9, 1]);
  });
});
