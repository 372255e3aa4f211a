/** A process whose proxy is closed during traffic. It exits on its own once no resource is left. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { version2, addresses } from "../listeners/proxy-protocol/headers.ts";
import { eventually, startGateway, startTcp } from "./gateway.ts";
import { l4Route, startL4 } from "./l4.ts";
import { watchOpenResources } from "./open-resources.ts";

const open = watchOpenResources();

const { chainPem, keyPem } = issueCertificate(["a.example", "end.example.com"]);
const certificate = { chainPem, keyPem };
const clients: { destroy(): unknown }[] = [];
const keep = <Client extends { destroy(): unknown; on(event: "error", listener: () => void): unknown }>(
  client: Client,
): Client => {
  client.on("error", () => undefined);
  clients.push(client);
  return client;
};
const dial = (port: number, bytes: string | Buffer): Socket => {
  const socket = keep(connect(port, "127.0.0.1"));
  socket.write(bytes);
  return socket;
};
const request = (method: string, path: string, more = ""): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a.example\r\n${more}\r\n`;

let hanging = 0;
const backend = await startTcp((socket) => {
  socket.on("data", (chunk: Buffer) => {
    const text = chunk.toString("latin1");
    if (text.includes("/hang")) hanging++;
    else if (text.includes("/broken")) socket.write("HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n");
    else if (text.includes("/chat")) {
      socket.write("HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
    } else if (text.startsWith("GET ")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    else socket.write(chunk);
  });
});
const flags = ["--proxy-accept-proxy-protocol", "--proxy-default-request-timeout=1h"];
const hour = 3_600_000;
const gateway = await startGateway(
  {
    ports: [backend.port],
    certificate,
    features: {
      timeouts: { readTimeoutMs: hour, sendTimeoutMs: hour, requestTimeoutMs: hour, backendTimeoutMs: hour },
      retry: { attempts: 1, codes: [503], backoffMs: hour },
      "mirror-target": [{ service: "ns/copy", endpoints: "ns/copy/80", protocol: "http1" }],
    },
    resources: [
      encodeResource<"endpoints">(endpointsKey("ns/copy/80"), {
        service: "ns/copy",
        resolve: "static",
        addresses: [{ host: "127.0.0.1", port: backend.port }],
      }),
    ],
  },
  flags,
);
const silent = createSocket("udp4");
silent.bind(0, "127.0.0.1");
await once(silent, "listening");
const set = "ns/db/5432";
const udpSet = "ns/dns/53";
const l4 = await startL4({
  tcp: l4Route([set, 1]),
  udp: l4Route([udpSet, 1]),
  tls: [{ kind: "exact", host: "end.example.com", mode: "terminate", route: l4Route([set, 1]) }],
  certificates: {
    certificates: { demo: certificate },
    hosts: [{ bucket: "exact", host: "end.example.com", certificates: ["demo"] }],
  },
  endpoints: { [set]: [backend.port], [udpSet]: [silent.address().port] },
});

const header = version2(addresses([203, 0, 113, 7], 4711), { transport: 0x11 });
const http = (text: string): Socket => dial(gateway.port, Buffer.concat([header, Buffer.from(text)]));
http(request("GET", "/hang"));
http(request("POST", "/hang", "Content-Length: 10\r\n") + "hello");
http(request("GET", "/broken"));
http("GET / HT");
dial(gateway.port, header.subarray(0, 4));
for (const path of ["/", "/chat"]) {
  await once(http(request("GET", path, "Connection: upgrade\r\nUpgrade: websocket\r\n")), "data");
}
const session = keep(
  connectHttp2("http://a.example", {
    createConnection: () => dial(gateway.port, header),
  }),
);
const answered = keep(session.request({ ":path": "/" }));
await once(answered.resume(), "end");
keep(session.request({ ":path": "/hang" }));
const plain = dial(gateway.tlsPort, header);
await once(plain, "connect");
const secure = keep(connectTls({ socket: plain, servername: "a.example", rejectUnauthorized: false }));
secure.write(request("GET", "/"));
await once(secure, "data");
dial(gateway.tlsPort, Buffer.concat([header, Buffer.from([22, 3, 1])]));

await once(dial(l4.tcpPort, "x"), "data");
const ended = keep(
  connectTls({
    port: l4.tlsPort,
    host: "127.0.0.1",
    servername: "end.example.com",
    rejectUnauthorized: false,
  }),
);
ended.write("x");
await once(ended, "data");
const udp = createSocket("udp4");
udp.send("x", l4.udpPort, "127.0.0.1");
await once(silent, "message");
// The copies of mirrored requests are included.
await eventually(() => hanging === 6);

await Promise.all([gateway.close(), l4.close()]);

for (const client of clients) client.destroy();
udp.close();
silent.close();
await backend.close();
process.once("beforeExit", () => {
  // Pipes are excluded, because the result is written to one.
  const resources = process.getActiveResourcesInfo().filter((name) => name !== "PipeWrap");
  // The event loop's own list does not contain unreferenced timers.
  const timers = open.since(0).filter((stack) => stack.startsWith("Error: Timeout"));
  console.log(JSON.stringify({ resources, timers }));
});
