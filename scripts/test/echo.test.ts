import { expect } from "chai";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:http2";
import { WebSocket } from "ws";
import { startEchoBackend, type EchoAnswer, type EchoBackend } from "../echo/backend.ts";
import { callEcho } from "../echo/grpc-client.ts";

describe("the echo backend", () => {
  let backend: EchoBackend;
  before(async () => {
    backend = await startEchoBackend({ name: "web" });
  });
  after(() => backend.close());

  it("the echo backend survives clients that leave in the middle of a body", async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): void => void rejections.push(reason);
    process.on("unhandledRejection", onRejection);
    const sent = request({ port: backend.port, method: "POST" });
    const failed = once(sent, "error");
    sent.write("bo");
    await once(sent, "socket");
    await new Promise((resolve) => sent.write("dy", resolve));
    sent.destroy(new Error("left"));
    await failed;
    const again = request({ port: backend.port });
    again.end();
    const [response] = (await once(again, "response")) as [import("node:http").IncomingMessage];
    expect(response.resume().statusCode).to.equal(200);
    process.off("unhandledRejection", onRejection);
    expect(rejections).to.deep.equal([]);
  });

  it("the echo backend describes an HTTP/1.1 request", async () => {
    const sent = request({
      port: backend.port,
      path: "/a?status=404",
      method: "POST",
      headers: { Host: "x.example", "X-One": "1" },
    });
    sent.end("body");
    const [response] = (await once(sent, "response")) as [import("node:http").IncomingMessage];
    let text = "";
    for await (const chunk of response) text += String(chunk);
    const answer = JSON.parse(text) as EchoAnswer;
    expect(response.statusCode).to.equal(404);
    expect(answer).to.include({
      backend: "web",
      protocol: "HTTP/1.1",
      method: "POST",
      path: "/a?status=404",
      host: "x.example",
      bodyBytes: 4,
      body: "body",
    });
    expect(answer.headers).to.deep.include(["X-One", "1"]);
  });

  it("the echo backend describes an HTTP/2 request", async () => {
    const session = connect(`http://127.0.0.1:${backend.port}`);
    const stream = session.request({ ":path": "/b", ":authority": "y.example" });
    stream.end();
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    session.close();
    expect(JSON.parse(text)).to.include({
      backend: "web",
      protocol: "HTTP/2",
      method: "GET",
      path: "/b",
      host: "y.example",
    });
  });

  it("the echo backend echoes gRPC messages and ends with trailers", async () => {
    const session = connect(`http://127.0.0.1:${backend.port}`);
    const long = "x".repeat(100_000);
    const { messages, trailers, headers } = await callEcho(session, ["one", "", long]);
    const refused = await callEcho(session, ["one"], { "echo-grpc-status": "5" });
    session.close();
    expect(messages).to.deep.equal(["one", "", long]);
    expect(trailers).to.include({ "grpc-status": "0" });
    expect(headers).to.include({ "echo-backend": "web" });
    expect(refused.messages).to.deep.equal([]);
    expect(refused.trailers).to.include({ "grpc-status": "5", "grpc-message": "as requested" });
  });

  it("the echo backend echoes WebSocket messages", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${backend.port}/chat`, { headers: { Host: "z.example" } });
    const received: string[] = [];
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.once("open", () => socket.send("hello"));
      socket.on("message", (data: Buffer) => {
        received.push(data.toString("utf8"));
        if (received.length === 2) resolve();
      });
    });
    socket.close();
    await once(socket, "close");
    expect(JSON.parse(received[0] ?? "")).to.deep.equal({ backend: "web", path: "/chat", host: "z.example" });
    expect(received[1]).to.equal("hello");
  });
});
