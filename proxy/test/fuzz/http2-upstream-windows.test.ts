import { expect } from "chai";
import { Choices } from "../chaos/random.ts";
import { frame, frameTypes } from "../http/h2/frames.ts";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { data, head, reset, settings } from "../upstream/h2/server-frames.ts";
import { createClient, exchange, startRawBackend } from "../upstream/h2/support.ts";

const requests = 150;
const maxContent = 15_000;
const cancel = 8;

describeHttp2Codecs("the window of an HTTP/2 connection to a backend", () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  it("a connection gives back the room of all content, taken or not, in any order of ends, resets and aborts", async () => {
    const choices = new Choices(Number(process.env["SEED"] ?? 9118));
    const client = createClient();
    const backend = await startRawBackend();
    closing.push(
      () => client.close(),
      () => backend.close(),
    );
    let last = exchange(client, backend.port);
    const peer = await backend.accept();
    peer.send(settings);
    const onConnection = ({ type, streamId }: { type: number; streamId: number }): boolean =>
      type === frameTypes.windowUpdate && streamId === 0;
    let questions = 0;
    /** The proxy has read everything. */
    const isRead = async (): Promise<void> => {
      const question = Buffer.from(String(++questions).padStart(8, "!"));
      peer.send(frame(frameTypes.ping, 0, 0, question));
      await peer.frame(({ type, payload }) => type === frameTypes.ping && payload.equals(question));
    };
    let sent = 0;
    let wholeBytes = 0;
    for (let count = 0; count < requests; count++) {
      const id = 2 * count + 1;
      if (count > 0) last = exchange(client, backend.port);
      await peer.frame(({ type, streamId }) => type === frameTypes.headers && streamId === id);
      if (count === 0) wholeBytes = 65_535 + ((await peer.frame(onConnection)).payload.readUInt32BE(0) ?? 0);
      last.full = choices.chance(0.6);
      const pieces = Array.from({ length: choices.below(5) }, () =>
        "x".repeat(maxContent - choices.below(1000)),
      );
      const ends = choices.chance(0.5);
      const resets = !ends && choices.chance(0.3);
      peer.send(
        head(id, { end: ends && pieces.length === 0 }),
        ...pieces.map((text, index) => data(id, text, ends && index === pieces.length - 1 ? 1 : 0)),
        ...(resets ? [reset(id, cancel)] : []),
      );
      for (const text of pieces) sent += text.length;
      if (choices.chance(0.8)) await isRead();
      const isOver = (): boolean => last.ended || last.error !== undefined;
      if (choices.chance(0.5)) {
        last.full = false;
        last.stream.resume();
      }
      if (!isOver()) last.stream.abort();
      if (!ends && !resets && choices.chance(0.5)) {
        peer.send(data(id, "y".repeat(1000), choices.below(2)));
        sent += 1000;
      }
      await isRead();
    }
    // As soon as the window is renewed, only room that was lost is missing.
    const renewals = (): number => peer.frames.filter(onConnection).length;
    const before = renewals();
    for (let count = requests; renewals() === before; count++) {
      expect(sent).to.be.below(2 * wholeBytes);
      const id = 2 * count + 1;
      exchange(client, backend.port);
      await peer.frame(({ type, streamId }) => type === frameTypes.headers && streamId === id);
      const pieces = Array.from({ length: 4 }, () => "z".repeat(maxContent));
      peer.send(head(id), ...pieces.map((text, index) => data(id, text, index === 3 ? 1 : 0)));
      sent += 4 * maxContent;
      await isRead();
    }
    const updates = peer.frames.filter(onConnection);
    const left = updates.reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 65_535 - sent);
    expect(left).to.be.at.least(wholeBytes - 4 * maxContent);
  });
});
