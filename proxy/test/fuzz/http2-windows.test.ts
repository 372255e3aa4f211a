import { expect } from "chai";
import { connectionWindowBytes, streamWindowBytes } from "../../src/http2/settings.ts";
import type { ClientStream } from "../../src/message/message.ts";
import { Choices } from "../chaos/random.ts";
import { flags, frame, frameTypes, type RawPeer, requestFrame, uint32 } from "../http/h2/frames.ts";
import { usePeerOnFront } from "../http/h2/peer-on-front.ts";
import { reply } from "../http/h2/support.ts";
import { describeHttp2Codecs } from "../http2-codecs.ts";

const requests = 200;
const maxContent = 15_000;

/** The reactions of a handler to a request that has arrived in part or completely. */
const handlings: readonly ((client: ClientStream) => void)[] = [
  (client) => reply(client, "unread"),
  (client) => client.abort(),
  // Reads all of it, or what has come of it.
  (client) => {
    client.body?.start({ onData: () => true, onEnd: () => {}, onAbort: () => {} });
    reply(client, "read");
  },
  // Takes one piece and no more.
  (client) => {
    client.body?.start({ onData: () => false, onEnd: () => {}, onAbort: () => {} });
    reply(client, "stopped");
  },
  (client) => {
    client.body?.start({ onData: () => false, onEnd: () => {}, onAbort: () => {} });
    client.abort();
  },
];

/** DATA with some padding, or without. */
function content(streamId: number, bytes: number, padding: number, end: boolean): Buffer {
  const last = end ? flags.endStream : 0;
  if (padding === 0) return frame(frameTypes.data, last, streamId, Buffer.alloc(bytes, 97));
  const padded = Buffer.concat([Buffer.of(padding), Buffer.alloc(bytes, 97), Buffer.alloc(padding)]);
  return frame(frameTypes.data, last | flags.padded, streamId, padded);
}

describeHttp2Codecs("the window of an HTTP/2 connection", (codec) => {
  const on = usePeerOnFront(codec);

  /** The bytes that the client may still send, from the bytes that it has sent and the updates that it has received. */
  const windowOf = (peer: RawPeer, sent: number): number =>
    peer.frames
      .filter(({ type, streamId }) => type === frameTypes.windowUpdate && streamId === 0)
      .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 65_535 - sent);

  it("a connection gets back the room of all content, read or not, in any order of ends and resets", async () => {
    const choices = new Choices(Number(process.env["SEED"] ?? 9117));
    const { peer, server } = on;
    let sent = 0;
    for (let count = 0; count < requests; count++) {
      const id = 2 * count + 1;
      const pieces = Array.from({ length: choices.below(5) }, () => ({
        bytes: choices.below(maxContent),
        padding: choices.chance(0.3) ? 1 + choices.below(255) : 0,
      }));
      const sizes = pieces.map(({ bytes, padding }) => bytes + (padding > 0 ? 1 + padding : 0));
      const total = sizes.reduce((sum, size) => sum + size, 0);
      expect(total).to.be.lessThan(streamWindowBytes);
      const ends = choices.chance(0.5);
      const resets = !ends && choices.chance(0.5);
      const length = pieces.reduce((sum, { bytes }) => sum + bytes, 0);
      // A wrong length is a fault of the client.
      const declared = choices.chance(0.1) ? length + 1 : length;
      const fields = choices.chance(0.5) ? [["content-length", String(declared)] as const] : [];
      peer.send(
        requestFrame(id, { end: ends && pieces.length === 0 && declared === 0, method: "POST", fields }),
        ...pieces.map(({ bytes, padding }, index) =>
          content(id, bytes, padding, ends && index === pieces.length - 1),
        ),
        ...(resets ? [frame(frameTypes.rstStream, 0, id, uint32(8))] : []),
      );
      sent += total;
      const { client } = await server.next();
      if (choices.chance(0.8)) await on.isAlive();
      choices.one(handlings)(client);
      // What crosses a reset of the proxy.
      if (!ends && !resets && choices.chance(0.5)) {
        peer.send(content(id, 1000, 0, choices.chance(0.5)));
        sent += 1000;
      }
      if (choices.chance(0.5)) await on.isAlive();
    }
    await on.isAlive();
    expect(sent).to.be.greaterThan(2 * connectionWindowBytes);
    // Room is given back once half of the window is free.
    expect(windowOf(peer, sent)).to.be.at.least(connectionWindowBytes / 2);
  });
});
