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
    ["is not renewed for a declared rest that fits into it", 65_536, false],
    ["is renewed for a declared rest that does not fit into it", 65_537, true],
    ["is renewed where no length is declared", undefined, true],
  ] as const) {
    it(`the window of a stream ${what}`, async () => {
      const fields = length === undefined ? [] : [["content-length", String(length)] as const];
      peer.send(requestFrame(1, { end: false, method: "POST", fields }));
      const { client } = await server.next();
      const body = readBody(client.body);
      const piece = Buffer.alloc(16_384, "x");
      peer.send(...[1, 2, 3, 4].map(() => frame(frameTypes.data, 0, 1, piece)));
      const question = Buffer.from("question");
      peer.send(frame(frameTypes.ping, 0, 0, question));
      await peer.frame((f) => f.type === frameTypes.ping && f.payload.equals(question));
      const updates = peer.frames.filter((f) => f.type === frameTypes.windowUpdate && f.streamId === 1);
      expect(updates.length > 0).to.equal(isRenewed);
      const rest = "x".repeat(Math.max(0, (length ?? 65_546) - 65_536));
      peer.send(frame(frameTypes.data, flags.endStream, 1, Buffer.from(rest)));
      expect((await body).text).to.equal("x".repeat(65_536 + rest.length));
    });
  }
});
