/**
 * A process whose proxies lose their clients and backends during traffic. After each part, no resource may be open that
 * was not open before. Needs --expose-gc, as sessions and TLS end when their objects are garbage-collected.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { connect, type AddressInfo, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { addresses, version2 } from "../listeners/proxy-protocol/headers.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { silentPort } from "../upstream/silent-port.ts";
import { eventually, withWorkers } from "../worker/support.ts";
import { gateAt, gateName, httpCheck } from "./ext-auth-support.ts";
import { eventually as until, startGateway, startTcp, type Gateway, type Plan } from "./gateway.ts";
import { l4Route, startL4, type L4Gateway, type L4Plan } from "./l4.ts";
import { watchOpenResources } from "./open-resources.ts";

Error.stackTraceLimit = 30;
const resources = watchOpenResources();
/** How long resources may take to close on a slow machine. Leaked ones stay open indefinitely. */
const patienceMs = 30_000;
const rounds = 3;

const { gc: collect = () => undefined } = globalThis as { gc?: () => void };

/**
 * Waits until at most `allowed` resources from after the mark are open, or time is over. Returns the stacks of those.
 */
async function leftSince(mark: number, allowed = 0): Promise<readonly string[]> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    collect();
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    const left = resources.since(mark);
    if (left.length <= allowed || performance.now() > endMs) return left;
  }
}

const quiet = <Peer extends { on(event: "error", listener: () => void): unknown }>(peer: Peer): Peer => {
  peer.on("error", () => undefined);
  return peer;
};
const dial = (port: number, bytes: string | Buffer): Socket => {
  const socket = quiet(connect({ port, host: "127.0.0.1", allowHalfOpen: true }));
  socket.write(bytes);
  return socket;
};
/** Ends connections in all possible ways: by a reset, a close, or a half-close before the close. */
const leave = async (sockets: readonly Socket[]): Promise<void> => {
  for (const [index, socket] of sockets.entries()) {
    if (index % 3 === 0) socket.resetAndDestroy();
    else if (index % 3 === 1) socket.destroy();
    else socket.end(() => socket.destroy());
  }
  await Promise.all(sockets.filter(({ closed }) => !closed).map((socket) => once(socket, "close")));
};
const times = <Value>(count: number, make: () => Value): Value[] => Array.from({ length: count }, make);
const request = (method: string, path: string, more = ""): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a.example\r\n${more}\r\n`;
const websocket = request("GET", "/chat", "Connection: upgrade\r\nUpgrade: websocket\r\n");

/** Starts a server that responds by the path of the request, and counts the requests that it leaves unanswered. */
async function startBackend() {
  const backend = { hanging: 0 };
  const server = await startTcp((socket) => {
    socket.on("data", (chunk: Buffer) => {
      const text = chunk.toString("latin1");
      if (/^(GET|POST) \/hang/.test(text)) backend.hanging++;
      else if (text.includes(" /broken")) socket.write("HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n");
      else if (text.includes(" /large")) {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n");
        socket.write(Buffer.alloc(9_000_000));
      } else if (text.includes(" /chat")) {
        socket.write("HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
      } else if (text.includes("bye")) socket.destroy();
      else if (/^(GET|POST) /.test(text)) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      else socket.write(chunk);
    });
  });
  return Object.assign(backend, { port: server.port, close: server.close });
}

type Backend = Awaited<ReturnType<typeof startBackend>>;
const answered = (socket: Socket): Promise<unknown> => once(socket, "data");

/** Plays traffic on an HTTP proxy. Returns the stacks of the resources that are left open. */
async function http(
  plan: Omit<Plan, "ports">,
  play: (gateway: Gateway, backend: Backend) => Promise<void>,
  flags: readonly string[] = [],
  otherPort?: number,
): Promise<readonly string[]> {
  const backend = await startBackend();
  const ports = [otherPort ?? backend.port];
  const gateway = await startGateway({ ...plan, ports }, flags);
  await play(gateway, backend);
  await leftSince(Number.POSITIVE_INFINITY);
  gateway.update({ ...gateway.plan, ports: [] });
  const mark = resources.mark();
  for (let round = 0; round < rounds; round++) {
    gateway.update({ ...gateway.plan, ports });
    await play(gateway, backend);
  }
  // Idle connections to the backend end with their endpoint.
  gateway.update({ ...gateway.plan, ports: [] });
  const left = await leftSince(mark);
  await gateway.close();
  await backend.close();
  return left;
}

async function l4(
  plan: Omit<L4Plan, "endpoints">,
  play: (gateway: L4Gateway, backend: Backend) => Promise<void>,
  port?: number,
): Promise<readonly string[]> {
  const backend = await startBackend();
  const full = { ...plan, endpoints: { [set]: [port ?? backend.port] } };
  const gateway = await startL4(full);
  await play(gateway, backend);
  const mark = resources.mark();
  for (let round = 0; round < rounds; round++) await play(gateway, backend);
  await gateway.update({ ...plan, endpoints: { [set]: [] } });
  const left = await leftSince(mark);
  await gateway.close();
  await backend.close();
  return left;
}

const { chainPem, keyPem } = issueCertificate(["a.example", "end.example.com"]);
const certificate = { chainPem, keyPem };
const set = "ns/db/5432";
const hour = 3_600_000;
const header = version2(addresses([203, 0, 113, 7], 4711), { transport: 0x11 });
const secure = (port: number, servername: string): Socket =>
  quiet(connectTls({ port, host: "127.0.0.1", servername, rejectUnauthorized: false }));

const parts: { readonly [name: string]: () => Promise<readonly string[]> } = {
  "HTTP/1": () =>
    http({}, async ({ port }, backend) => {
      const before = backend.hanging;
      const waiting = [
        ...times(3, () => dial(port, request("GET", "/hang"))),
        ...times(3, () => dial(port, request("POST", "/hang", "Content-Length: 10\r\n") + "hello")),
        ...times(3, () => dial(port, request("GET", "/hang").repeat(3))),
      ];
      const silent = times(3, () => dial(port, "GET / HT"));
      const large = times(3, () => dial(port, request("GET", "/large")).pause());
      const busy = dial(port, request("GET", "/").repeat(30));
      await answered(busy);
      await until(() => backend.hanging === before + 9);
      await Promise.all(large.map((socket) => once(socket, "readable")));
      await leave([...waiting, ...silent, ...large, busy]);
    }),
  "HTTP/2": () =>
    http({ certificate }, async ({ port, tlsPort }, backend) => {
      const before = backend.hanging;
      const sessions = [
        ...times(3, () => quiet(connectHttp2(`http://127.0.0.1:${port}`))),
        ...times(3, () =>
          quiet(
            connectHttp2(`https://127.0.0.1:${tlsPort}`, {
              servername: "a.example",
              rejectUnauthorized: false,
            }),
          ),
        ),
      ];
      const fields = { ":authority": "a.example" };
      for (const session of sessions) {
        quiet(session.request({ ...fields, ":path": "/hang" }));
        quiet(session.request({ ...fields, ":path": "/hang", ":method": "POST" })).write("x");
        quiet(session.request({ ...fields, ":path": "/large" }));
        const whole = quiet(session.request({ ...fields, ":path": "/" }));
        await once(whole.resume(), "end");
      }
      await until(() => backend.hanging === before + 12);
      for (const [index, session] of sessions.entries()) {
        if (index % 2 === 0) session.destroy();
        else session.socket.destroy();
      }
      await until(() => sessions.every(({ destroyed }) => destroyed));
    }),
  TLS: () =>
    http({ certificate }, async ({ tlsPort }, backend) => {
      const before = backend.hanging;
      const begun = times(3, () => dial(tlsPort, Buffer.from([22, 3, 1])));
      const broken = dial(tlsPort, Buffer.alloc(600, 22));
      const connected = times(6, () => secure(tlsPort, "a.example"));
      for (const socket of connected) socket.write(request("GET", "/hang"));
      await until(() => backend.hanging === before + 6);
      for (const socket of connected) socket.destroy();
      await leave([...begun, broken]);
    }),
  "PROXY protocol": () =>
    http(
      {},
      async ({ port }, backend) => {
        const before = backend.hanging;
        const waiting = times(3, () =>
          dial(port, Buffer.concat([header, Buffer.from(request("GET", "/hang"))])),
        );
        const begun = times(3, () => dial(port, header.subarray(0, 4)));
        const wrong = dial(port, request("GET", "/"));
        await until(() => backend.hanging === before + 3);
        await leave([...waiting, ...begun, wrong]);
      },
      ["--proxy-accept-proxy-protocol"],
    ),
  "HTTP/2 backends": async () => {
    let hanging = 0;
    const server = createHttp2Server((asked, answer) => {
      quiet(asked.stream);
      if (asked.url === "/hang") hanging++;
      else answer.end("ok");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port: backendPort } = server.address() as AddressInfo;
    const left = await http(
      { protocol: "http2" },
      async ({ port }) => {
        const before = hanging;
        const waiting = times(3, () => dial(port, request("GET", "/hang")));
        const uploading = times(3, () =>
          dial(port, request("POST", "/hang", "Content-Length: 10\r\n") + "hello"),
        );
        const served = dial(port, request("GET", "/"));
        await answered(served);
        await until(() => hanging === before + 6);
        await leave([...waiting, ...uploading, served]);
      },
      [],
      backendPort,
    );
    server.close();
    return left;
  },
  WebSockets: () =>
    http({}, async ({ port }) => {
      const open = times(7, () => dial(port, websocket));
      await Promise.all(open.map(answered));
      const echoes = open.map(answered);
      for (const socket of open) socket.write("hello");
      await Promise.all(echoes);
      const [last, ...others] = open as [Socket, ...Socket[]];
      last.write("bye");
      await once(last.resume(), "end");
      last.destroy();
      await leave(others);
    }),
  retries: () =>
    http({ features: { retry: { attempts: 3, codes: [503], backoffMs: hour } } }, async (gateway) => {
      const { port, metrics } = gateway;
      const retries = metrics.upstreamRetries.with({
        ...{ listener: "80", route: "ingress/ns/web:0.0" },
        ...{ upstream: "ns/web", condition: "5xx" },
      });
      const before = retries.value;
      const waiting = times(6, () => dial(port, request("GET", "/broken")));
      await until(() => retries.value === before + 6);
      await leave(waiting);
    }),
  mirrors: async () => {
    const copies = await startBackend();
    const left = await http(
      {
        features: { "mirror-target": [{ service: "ns/copy", endpoints: "ns/copy/80", protocol: "http1" }] },
        resources: [gateAt("ns/copy/80", copies.port)],
      },
      async ({ port }) => {
        const before = copies.hanging;
        const waiting = times(3, () => dial(port, request("GET", "/hang")));
        const uploading = times(3, () =>
          dial(port, request("POST", "/hang", "Content-Length: 10\r\n") + "hello"),
        );
        await until(() => copies.hanging === before + 6);
        await leave([...waiting, ...uploading]);
      },
    );
    await copies.close();
    return left;
  },
  "authorization services": async () => {
    const gate = await startBackend();
    const left = await http(
      {
        features: { "ext-auth": [{ check: { ...httpCheck, timeoutMs: hour } }] },
        resources: [gateAt(gateName, gate.port)],
      },
      async ({ port }) => {
        const before = gate.hanging;
        const waiting = times(6, () => dial(port, request("GET", "/hang")));
        await until(() => gate.hanging === before + 6);
        await leave(waiting);
      },
    );
    await gate.close();
    return left;
  },
  TCP: () =>
    l4({ tcp: l4Route([set, 1]) }, async ({ tcpPort }) => {
      const open = times(7, () => dial(tcpPort, "x"));
      await Promise.all(open.map(answered));
      const [last, ...others] = open as [Socket, ...Socket[]];
      last.write("bye");
      await once(last.resume(), "end");
      last.destroy();
      await leave(others);
    }),
  "TCP while its backend is connected to": async () => {
    const silent = await silentPort();
    const left = await l4(
      { tcp: l4Route([set, 1]) },
      async ({ tcpPort, metrics }) => {
        const active = metrics.connectionsActive.with({ listener: "9000" });
        const sockets = times(6, () => dial(tcpPort, "x"));
        await until(() => active.value === 6);
        for (const socket of sockets) socket.resetAndDestroy();
        await until(() => active.value === 0);
      },
      silent.port,
    );
    await silent.close();
    return left;
  },
  "TLS below HTTP": () =>
    l4(
      {
        tls: [{ kind: "exact", host: "end.example.com", mode: "terminate", route: l4Route([set, 1]) }],
        certificates: {
          certificates: { demo: certificate },
          hosts: [{ bucket: "exact", host: "end.example.com", certificates: ["demo"] }],
        },
      },
      async ({ tlsPort }) => {
        const open = times(6, () => secure(tlsPort, "end.example.com"));
        for (const socket of open) socket.write("x");
        await Promise.all(open.map(answered));
        const unknown = secure(tlsPort, "other.example.com");
        await once(unknown, "close").catch(() => undefined);
        for (const socket of open) socket.destroy();
      },
    ),
  UDP: async () => {
    const server = createSocket("udp4", (message, { port }) => server.send(message, port, "127.0.0.1"));
    await once(server.bind(0, "127.0.0.1"), "listening");
    const play = async ({ udpPort }: L4Gateway): Promise<void> => {
      const clients = times(6, () => createSocket("udp4"));
      const answers = clients.map((client) => once(client, "message"));
      for (const client of clients) client.send("x", udpPort, "127.0.0.1");
      await Promise.all(answers);
      for (const client of clients) client.close();
    };
    const left = await l4({ udp: l4Route([set, 1]) }, play, server.address().port);
    server.close();
    return left;
  },
  "replaced workers": async () => {
    let left: readonly string[] = [];
    await withWorkers(2, async ({ ask, fault, metric }) => {
      await ask("/");
      const before = resources.since(0).length;
      for (let replaced = 1; replaced <= 2; replaced++) {
        await fault({ worker: 1, fault: "throw" });
        await eventually(async () => (await metric("svc_proxy_worker_restarts_total")) === replaced);
        await eventually(async () => (await metric("svc_proxy_workers ")) === 2);
      }
      left = (await leftSince(0, before)).slice(before);
    });
    return left;
  },
  reloads: () =>
    http({}, async (gateway) => {
      const { plan } = gateway;
      const first = dial(gateway.port, request("GET", "/"));
      await answered(first);
      for (let change = 0; change < 5; change++) {
        gateway.update({ ...plan, hosts: ["a.example", `b${change}.example`], certificate });
        await gateway.proxy.settled();
        const socket = secure(gateway.proxy.localPort(443) ?? 0, "a.example");
        socket.write(request("GET", "/"));
        await answered(socket);
        gateway.update(plan);
        await gateway.proxy.settled();
        socket.destroy();
      }
      await leave([first]);
    }),
};

const asked = new Set(process.argv.slice(2));
const left: Record<string, readonly string[]> = {};
for (const [name, play] of Object.entries(parts)) {
  if (asked.size > 0 && !asked.has(name)) continue;
  left[name] = await play();
}
console.log(JSON.stringify(left));
