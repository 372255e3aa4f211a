import { connect } from "node:net";
import { frame, frameTypes, preface, requestFrame, uint32 } from "../http/h2/frames.ts";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { eventually, startGateway, startTcp } from "./gateway.ts";

describeHttp2Codecs("HTTP/2 connections that Node has given up without closing them", () => {
  it("an HTTP/2 connection that Node has given up is closed, although a stream on it cannot end", async () => {
    const backend = await startTcp((socket) => void socket.resume());
    const gateway = await startGateway({ ports: [backend.port], hosts: ["a.test"] }, [
      "--proxy-client-body-timeout=100ms",
      "--proxy-client-write-timeout=100ms",
    ]);
    const open = (): number => gateway.metrics.connectionsActive.with({ listener: "80" }).value;
    const socket = connect(gateway.port, "127.0.0.1");
    try {
      socket.on("error", () => {}).resume();
      // The reset of one stream, with the code of the fault of the connection that follows it at once.
      const bytes = [
        preface,
        frame(frameTypes.settings, 0, 0),
        requestFrame(1, { end: false, method: "POST" }),
        frame(frameTypes.rstStream, 0, 1, uint32(1)),
        requestFrame(3, { end: false, method: "POST" }),
        frame(frameTypes.ping, 0, 0, Buffer.alloc(2)),
      ];
      socket.write(Buffer.concat(bytes));
      await eventually(() => open() === 1);
      await eventually(() => open() === 0);
    } finally {
      socket.destroy();
      await gateway.close();
      await backend.close();
    }
  });
});
