import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { flags, frame, frameTypes, RawPeer } from "../http/h2/frames.ts";
import { eventually, startGateway, startTcp, type Gateway } from "./gateway.ts";

const host = "a.test";
const half = "h".repeat(500);

describeCodecs("requests that are not completed, through the whole data plane", () => {
  const closing: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of closing.splice(0).toReversed()) await one.close();
  });

  /** A backend that only reads: `got` has the part of the request that arrived, and whether it looks complete. */
  const start = async (
    protocol: "http1" | "http2",
  ): Promise<{
    readonly gateway: Gateway;
    readonly got: { text: string; complete: boolean; over: boolean };
  }> => {
    const got = { text: "", complete: false, over: false };
    const server = await startTcp((socket) => {
      if (protocol === "http1") {
        socket.on("data", (piece: Buffer) => (got.text += piece.toString("latin1")));
        socket.on("close", () => {
          got.over = true;
          got.complete = got.text.endsWith("\r\n0\r\n\r\n");
        });
        return;
      }
      const peer = new RawPeer(socket, { asServer: true });
      peer.send(frame(frameTypes.settings, 0, 0));
      socket.on("data", () => {
        got.text = Buffer.concat(
          peer.frames.filter(({ type }) => type === frameTypes.data).map(({ payload }) => payload),
        ).toString();
        got.complete = peer.frames.some(
          ({ type, flags: bits }) =>
            (type === frameTypes.data || type === frameTypes.headers) && (bits & flags.endStream) !== 0,
        );
        got.over = peer.frames.some(({ type }) => type === frameTypes.rstStream);
      });
      socket.on("close", () => (got.over = true));
    });
    closing.push(server);
    const gateway = await startGateway({ ports: [server.port], protocol, hosts: [host] });
    closing.push(gateway);
    return { gateway, got };
  };

  /** Sends half of a body; calling the result makes the client leave. */
  const clients = {
    "HTTP/1.1 client with a length": ({ port }: Gateway) => {
      const socket = connect({ host: "127.0.0.1", port });
      socket.on("error", () => {});
      socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000\r\n\r\n${half}`);
      return () => socket.destroy();
    },
    "HTTP/1.1 client with chunks": ({ port }: Gateway) => {
      const socket = connect({ host: "127.0.0.1", port });
      socket.on("error", () => {});
      socket.write(
        `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n${half}\r\n`,
      );
      return () => socket.resetAndDestroy();
    },
    "HTTP/1.1 client that breaks its chunks": ({ port }: Gateway) => {
      const socket = connect({ host: "127.0.0.1", port });
      socket.on("error", () => {});
      socket.write(
        `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n1f4\r\n${half}\r\n`,
      );
      return () => void socket.write("ZZ\r\n");
    },
    "HTTP/2 client that resets": ({ port }: Gateway) => {
      const session = connectHttp2(`http://127.0.0.1:${port}`);
      session.on("error", () => {});
      const stream = session.request({ ":method": "POST", ":path": "/", ":authority": host });
      stream.on("error", () => {});
      stream.write(half);
      closing.push({ close: () => session.destroy() });
      return () => stream.destroy(new Error("left"));
    },
    "HTTP/2 client that goes": ({ port }: Gateway) => {
      const session = connectHttp2(`http://127.0.0.1:${port}`);
      session.on("error", () => {});
      const stream = session.request({
        ":method": "POST",
        ":path": "/",
        ":authority": host,
        "content-length": 1000,
      });
      stream.on("error", () => {});
      stream.write(half);
      return () => session.socket?.resetAndDestroy?.() ?? session.destroy();
    },
  } as const;

  for (const protocol of ["http1", "http2"] as const) {
    for (const [name, send] of Object.entries(clients)) {
      it(`an incomplete request of an ${name} never looks complete to ${protocol} backends`, async () => {
        const { gateway, got } = await start(protocol);
        const leave = send(gateway);
        await eventually(() => got.text.includes(half));
        leave();
        await eventually(() => got.over);
        expect(got.complete).to.equal(false);
      });
    }
  }
});
