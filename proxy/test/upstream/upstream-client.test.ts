import { once } from "node:events";
import { createServer as createHttp2Server, type Http2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { describeHttp2Codecs, http2Codec } from "../http2-codecs.ts";
import { createUpstreamClient } from "../../src/upstream/upstream-client.ts";
import { answering, getRequest, Recorder, until } from "./support.ts";

describeHttp2Codecs("createUpstreamClient", () => {
  it("the upstream client uses the protocol of each request, with one bound of idle connections for all", async () => {
    const http1 = await answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none");
    const http2 = createHttp2Server((_request, response) => response.end("two"));
    const sessions: Http2Session[] = [];
    http2.on("session", (session) => sessions.push(session));
    http2.listen(0, "127.0.0.1");
    await once(http2, "listening");
    const { port } = http2.address() as AddressInfo;
    const client = createUpstreamClient({
      connectTimeoutMs: 0,
      maxIdleConnections: 1,
      http2Codec: http2Codec(),
    });

    const first = new Recorder();
    client.send(http1.endpoint, getRequest(), first);
    await first.done;
    const second = new Recorder();
    const endpoint = { host: "127.0.0.1", port, address: `127.0.0.1:${port}` };
    client.send(endpoint, getRequest({ protocol: "http2" }), second);
    await second.done;
    expect([first.text, second.text]).to.deep.equal(["one", "two"]);
    await until(() => http1.peers[0]?.closed === true);

    client.retire([http1.endpoint, endpoint]);
    await until(() => sessions[0]?.destroyed === true);
    client.close();
    http1.close();
    http2.close();
  });
});
