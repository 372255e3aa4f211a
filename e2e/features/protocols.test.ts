import { once } from "node:events";
import { connect } from "node:http2";
import { expect } from "chai";
import { WebSocket } from "ws";
import type { EchoAnswer } from "../../scripts/echo/backend.ts";
import { proxyAddress } from "../support/address.ts";
import { send } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("protocols", () => {
  const sandbox = useSandbox("protocols");
  const host = "protocols.e2e.example";

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(ingress({ name: "protocols", host, paths: [{ service: "echo" }] }));
    await until("the Ingress to be served", async () => (await send({ host })).status === 200);
  });

  it("HTTP/2 with prior knowledge reaches an HTTP/1.1 backend", async () => {
    const address = await proxyAddress();
    const session = connect(`http://${address.host}:${address.http}`);
    try {
      const stream = session.request({ ":authority": host, ":path": "/h2", ":method": "POST" });
      stream.end("hello");
      let text = "";
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      await once(stream, "end");
      const echo = JSON.parse(text) as EchoAnswer;
      expect([echo.protocol, echo.path, echo.body]).to.deep.equal(["HTTP/1.1", "/h2", "hello"]);
    } finally {
      session.close();
    }
  });

  it("a WebSocket carries messages both ways", async () => {
    const address = await proxyAddress();
    const socket = new WebSocket(`ws://${address.host}:${address.http}/ws`, { headers: { host } });
    const messages: string[] = [];
    socket.on("message", (data: Buffer) => messages.push(data.toString("utf8")));
    await once(socket, "open");
    socket.send("ping");
    await until("the echo", () => messages.includes("ping"));
    socket.close();
    await once(socket, "close");
  });
});
