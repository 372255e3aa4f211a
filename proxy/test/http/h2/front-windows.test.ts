import { expect } from "chai";
import { flags, frame, frameTypes, type RawPeer, rawClient, requestFrame } from "./frames.ts";
import { type FrontServer, readBody, startFront } from "./support.ts";

describe("windows for requests of the native codec of HTTP/2", () => {
  let server: FrontServer;
  let peer: RawPeer;

  beforeEach(async () => {
    server = await startFront("native");
    peer = rawClient(server.port);
    await peer.ofType(frameTypes.settings);
  });
  afterEach(async () => {
    peer.close();
    await server.close();
  });

  for (const [what, length, isRenewed] of [
    ["is not renewed for a declared rest that is smaller", 65_535, false],
    ["is renewed for a declared rest that fills it, so that the stream can be ended", 65_536, true],
    ["is renewed for a declared rest that does not fit into it", 65_537, true],
    ["is renewed where no length is declared", undefined, true],
  ] as const) {
    it(`the window of a stream ${what}`, async () => {
      const fields = length === undefined ? [] : [["content-length", String(length)] as const];
      peer.send(requestFrame(1, { end: false, method: "POST", fields }));
      const { client } = await server.next();
      const body = readBody(client.body);
      const piece = Buffer.alloc(16_384, "x");
      const sent = Math.min(65_536, length ?? 65_536);
      for (let at = 0; at < sent; at += piece.length) {
        peer.send(frame(frameTypes.data, 0, 1, piece.subarray(0, sent - at)));
      }
      const question = Buffer.from("question");
      peer.send(frame(frameTypes.ping, 0, 0, question));
      await peer.frame((f) => f.type === frameTypes.ping && f.payload.equals(question));
      const updates = peer.frames.filter((f) => f.type === frameTypes.windowUpdate && f.streamId === 1);
      expect(updates.length > 0).to.equal(isRenewed);
      const rest = "x".repeat((length ?? 65_546) - sent);
      peer.send(frame(frameTypes.data, flags.endStream, 1, Buffer.from(rest)));
      expect((await body).text).to.equal("x".repeat(sent + rest.length));
    });
  }
});
