import type { FrontLimits } from "../../../src/http/front.ts";
import { type RawPeer, frame, frameTypes, rawClient, requestFrame } from "./frames.ts";
import { type Codec, type FrontServer, startFront } from "./support.ts";

/** A front with one raw client, for every test of the describe block that calls `usePeerOnFront`. */
export type PeerOnFront = {
  readonly server: FrontServer;
  readonly peer: RawPeer;
  /** Waits until the connection answers a PING. */
  isAlive(): Promise<void>;
};

/** Starts the front and the client before each test, and closes them after it. */
export function usePeerOnFront(codec: Codec, limits: Partial<FrontLimits> = {}): PeerOnFront {
  let server: FrontServer;
  let peer: RawPeer;
  let questions = 0;
  beforeEach(async () => {
    server = await startFront(codec, undefined, limits);
    peer = rawClient(server.port);
    await peer.ofType(frameTypes.settings);
  });
  afterEach(async () => {
    peer.close();
    await server.close();
  });
  return {
    get server() {
      return server;
    },
    get peer() {
      return peer;
    },
    async isAlive() {
      const question = Buffer.from(String(++questions).padStart(8, "?"));
      peer.send(frame(frameTypes.ping, 0, 0, question));
      await peer.frame((f) => f.type === frameTypes.ping && f.payload.equals(question));
    },
  };
}

/** Returns the HEADERS of a request that a body follows. */
export const postFrame = (id: number, fields: readonly (readonly [string, string])[] = []): Buffer =>
  requestFrame(id, { end: false, method: "POST", fields });
