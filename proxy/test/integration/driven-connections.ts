import type { Socket } from "node:net";
import { field, flags, frame, frameTypes, RawPeer } from "../http/h2/frames.ts";

/** A connection of a backend. A test determines how it responds and when it is lost. */
export type DrivenConnection = {
  /** The number of requests whose heads have arrived. */
  readonly heads: number;
  /** The body of the last request, as far as it has arrived. */
  readonly body: string;
  /** Sends a 100 (Continue). */
  interim(): void;
  /** Responds with this status, 200 by default, and the body `ok`. */
  serve(status?: number): void;
  lose(): void;
};

function http1Connection(socket: Socket): DrivenConnection {
  let text = "";
  socket.on("data", (piece: Buffer) => (text += piece.toString("latin1")));
  return {
    get heads() {
      return text.split(" HTTP/1.1\r\n").length - 1;
    },
    get body() {
      const last = text.slice(text.lastIndexOf(" HTTP/1.1\r\n"));
      return last.slice(last.indexOf("\r\n\r\n") + 4);
    },
    interim: () => void socket.write("HTTP/1.1 100 Continue\r\n\r\n"),
    // The announced timeout makes the connection usable for requests with a body after any time.
    serve: (status = 200) =>
      void socket.write(`HTTP/1.1 ${status} \r\nKeep-Alive: timeout=600\r\nContent-Length: 2\r\n\r\nok`),
    lose: () => void socket.resetAndDestroy(),
  };
}

function http2Connection(socket: Socket): DrivenConnection {
  const peer = new RawPeer(socket, { asServer: true });
  peer.send(frame(frameTypes.settings, 0, 0));
  const heads = () => peer.frames.filter(({ type }) => type === frameTypes.headers);
  const last = (): number => heads().at(-1)?.streamId ?? 0;
  const head = (status: number) =>
    frame(frameTypes.headers, flags.endHeaders, last(), field(":status", String(status)));
  return {
    get heads() {
      return heads().length;
    },
    get body() {
      const ofBody = peer.frames.filter(
        ({ type, streamId }) => type === frameTypes.data && streamId === last(),
      );
      return Buffer.concat(ofBody.map(({ payload }) => payload)).toString("latin1");
    },
    interim: () => peer.send(head(100)),
    serve: (status = 200) =>
      peer.send(head(status), frame(frameTypes.data, flags.endStream, last(), Buffer.from("ok"))),
    lose: () => void socket.resetAndDestroy(),
  };
}

export const connectionOf = (protocol: "http1" | "http2", socket: Socket): DrivenConnection =>
  protocol === "http1" ? http1Connection(socket) : http2Connection(socket);
