import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { request } from "node:http";
import { expect } from "chai";
import { jsonAnswer, textAnswer } from "../../src/admin/admin-answer.ts";
import type { AdminRoute } from "../../src/admin/admin-app.ts";
import { startAdminServers, type AdminServers } from "../../src/admin/admin-servers.ts";
import { createHealthRegistry } from "../../src/admin/health.ts";
import { createLogLevels } from "../../src/telemetry/log-levels.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createMemorySink } from "../telemetry/memory-sink.ts";

type Answer = { readonly status: number; readonly headers: Record<string, unknown>; readonly body: string };

function ask(port: number, path: string, method: string = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path, method, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (body += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

const extraRoutes: readonly AdminRoute[] = [
  {
    path: "/api/v1/fleet/proxies/:pod/routes",
    answer: ({ params, query }) => jsonAnswer({ pod: params["pod"], host: query.get("host") }),
  },
  { path: "/unknown-pod", answer: () => jsonAnswer({ error: "unknown pod" }, 404) },
  {
    path: "/broken",
    answer() {
      throw new Error("a bug");
    },
  },
];

describe("admin servers", () => {
  const health = createHealthRegistry("1.2.3");
  const proxy = health.register("proxy", ["routing_table_loaded"]);
  const sink = createMemorySink();
  const logger = createLogger("svc_proxy", {
    levels: createLogLevels({ level: "info", targets: [] }),
    format: "json",
    sink,
  });
  const settings = { managementBindAddress: "127.0.0.1", adminPort: 0, healthPort: 0 };
  const metrics = () =>
    Promise.resolve({ contentType: "text/plain; version=0.0.4; charset=utf-8", body: "up 1\n" });
  let servers: AdminServers;

  before(async () => {
    const started = await startAdminServers({ settings, health, metrics, logger, extraRoutes });
    if (!started.ok) throw new Error(started.error.message);
    servers = started.value;
  });
  after(() => servers.close());

  it("/healthz answers ok", async () => {
    const { status, body, headers } = await ask(servers.healthPort, "/healthz");
    expect({ status, body }).to.deep.equal({ status: 200, body: "ok" });
    expect(headers).to.include({
      "content-type": "text/plain; charset=utf-8",
      "content-length": "2",
      "cache-control": "no-store",
    });
    expect(headers).to.not.have.any.keys("x-powered-by", "etag", "server");
  });

  it("/readyz answers 503 with what is missing, then ok", async () => {
    proxy.set("routing_table_loaded", "Pending");
    expect(await ask(servers.healthPort, "/readyz")).to.include({
      status: 503,
      body: "proxy/routing_table_loaded\n",
    });
    proxy.set("routing_table_loaded", "Degraded");
    expect(await ask(servers.healthPort, "/readyz")).to.include({ status: 200, body: "ok" });
  });

  it("/api/v1/health answers the health document", async () => {
    proxy.set("routing_table_loaded", "Ready");
    const { status, headers, body } = await ask(servers.adminPort, "/api/v1/health");
    expect(status).to.equal(200);
    expect(headers["content-type"]).to.equal("application/json; charset=utf-8");
    expect(JSON.parse(body)).to.deep.equal({
      version: "1.2.3",
      subsystems: { proxy: { status: "Ready", checks: { routing_table_loaded: "Ready" } } },
    });
  });

  it("/metrics answers the metrics", async () => {
    const { status, headers, body } = await ask(servers.adminPort, "/metrics");
    expect({ status, body, type: headers["content-type"] }).to.deep.equal({
      status: 200,
      body: "up 1\n",
      type: "text/plain; version=0.0.4; charset=utf-8",
    });
  });

  it("HEAD is answered like GET, without the body", async () => {
    const { status, headers, body } = await ask(servers.adminPort, "/metrics", "HEAD");
    expect({ status, body, length: headers["content-length"] }).to.deep.equal({
      status: 200,
      body: "",
      length: "5",
    });
  });

  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    it(`the method ${method} is answered 405`, async () => {
      for (const [port, path] of [
        [servers.healthPort, "/readyz"],
        [servers.adminPort, "/metrics"],
        [servers.adminPort, "/unknown-pod"],
      ] as const) {
        const { status, headers } = await ask(port, path, method);
        expect(status).to.equal(405);
        expect(headers["allow"]).to.equal("GET, HEAD");
      }
    });
  }

  it("each port answers 404 to any path that is not its own", async () => {
    for (const path of [
      "/",
      "/status",
      "/routes",
      "/healthz/",
      "/Healthz",
      "/metrics",
      "//healthz",
      "/api/v1/health",
    ])
      expect((await ask(servers.healthPort, path)).status, path).to.equal(404);
    for (const path of ["/healthz", "/readyz", "/metrics/", "/api/v1", "/api/v1/fleet/proxies/a/b/routes"])
      expect((await ask(servers.adminPort, path)).status, path).to.equal(404);
  });

  it("a further route gets its parameters and query, and its status is sent", async () => {
    const { body } = await ask(servers.adminPort, "/api/v1/fleet/proxies/pod-1/routes?host=a%20b&host=c");
    expect(JSON.parse(body)).to.deep.equal({ pod: "pod-1", host: "a b" });
    expect(await ask(servers.adminPort, "/unknown-pod")).to.include({
      status: 404,
      body: '{"error":"unknown pod"}',
    });
    expect((await ask(servers.adminPort, "/api/v1/fleet/proxies/%ff/routes")).status).to.equal(400);
  });

  it("a route that throws is answered 500 without detail, and the error is logged", async () => {
    expect(await ask(servers.adminPort, "/broken")).to.include({ status: 500, body: "internal error\n" });
    expect(sink.lines.at(-1)).to.include("a bug").and.to.include("/broken");
  });

  it("a port serves 64 connections at a time and closes the oldest for a further one", async () => {
    const held: Socket[] = [];
    const openOne = async (): Promise<Socket> => {
      const socket = connect(servers.healthPort, "127.0.0.1");
      socket.on("error", () => {});
      held.push(socket);
      socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
      await once(socket, "data");
      return socket.resume();
    };
    try {
      for (let count = 0; count < 64; count += 1) await openOne();
      const [first, second] = held;
      const firstClosed = first && once(first, "close");
      const further = await openOne();
      await firstClosed;
      expect(second?.closed).to.equal(false);
      further.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
      await once(further, "data");
    } finally {
      for (const socket of held) socket.destroy();
    }
    await Promise.all(held.filter(({ closed }) => !closed).map((socket) => once(socket, "close")));
  });

  it("silent connections, incomplete requests and responses that are not read are ended", async () => {
    const size = 32 * 1024 * 1024;
    const big: AdminRoute = { path: "/big", answer: () => textAnswer("x".repeat(size)) };
    const options = { settings, health, metrics, logger, extraRoutes: [big], timeLimitMs: 500 };
    const started = await startAdminServers(options);
    if (!started.ok) throw new Error(started.error.message);
    const opened: Socket[] = [];
    const open = (text: string): Socket => {
      const socket = connect(started.value.adminPort, "127.0.0.1");
      opened.push(socket);
      socket.on("error", () => {});
      socket.write(text);
      return socket;
    };
    try {
      const slow = open("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
      let taken = 0;
      slow.on("data", (chunk) => {
        taken += chunk.length;
        slow.pause();
      });
      await once(slow, "data");
      // Once a connection that was opened later has ended, the time limit of the answer has also passed.
      for (const text of ["", "GET /metrics HTTP/1.1\r\nHost: a\r\n"]) {
        const socket = open(text).resume();
        await once(socket, "close");
      }
      slow.removeAllListeners("data");
      slow.on("data", (chunk) => (taken += chunk.length));
      slow.resume();
      await once(slow, "close");
      expect(taken).to.be.below(size);
    } finally {
      for (const socket of opened) socket.destroy();
      await started.value.close();
    }
  });

  it("a port that is in use is reported with its flag, and neither server runs", async () => {
    const occupant = createServer().listen(0, "127.0.0.1");
    await once(occupant, "listening");
    const { port } = occupant.address() as AddressInfo;
    const options = { health, metrics, logger };
    const admin = await startAdminServers({ ...options, settings: { ...settings, adminPort: port } });
    expect(admin.ok || admin.error.message).to.match(
      new RegExp(
        `^--admin-port: cannot listen on 127\\.0\\.0\\.1 port ${port}: Port ${port} is taken by this process itself$`,
      ),
    );
    const healthPort = await startAdminServers({ ...options, settings: { ...settings, healthPort: port } });
    expect(healthPort.ok || healthPort.error.message).to.match(/^--health-port: /);
    occupant.close();
    await once(occupant, "close");
  });

  it("access is checked before any page of the admin port, and never on the health port", async () => {
    const asked: unknown[] = [];
    const started = await startAdminServers({
      settings,
      health,
      metrics,
      logger,
      access: ({ authorization, path, peer }) => {
        asked.push([authorization, path, peer]);
        const challenge = { ...textAnswer("unauthorized\n", 401), challenge: "Bearer" };
        return authorization === "Bearer good" ? undefined : challenge;
      },
    });
    if (!started.ok) throw new Error(started.error.message);
    try {
      const { adminPort, healthPort } = started.value;
      const get = (port: number, path: string, headers: Record<string, string> = {}) =>
        fetch(`http://127.0.0.1:${port}${path}`, { headers });
      for (const path of ["/metrics", "/api/v1/health?x=1", "/unknown"]) {
        const refused = await get(adminPort, path);
        expect([refused.status, refused.headers.get("www-authenticate")], path).to.deep.equal([
          401,
          "Bearer",
        ]);
      }
      expect(asked[1]).to.deep.equal([undefined, "/api/v1/health", "127.0.0.1"]);
      expect((await get(adminPort, "/metrics", { authorization: "Bearer good" })).status).to.equal(200);
      expect((await get(healthPort, "/healthz")).status).to.equal(200);
      expect(asked).to.have.length(4);
    } finally {
      await started.value.close();
    }
  });

  it("a refused peer gets no answer, on either port", async () => {
    let isRefused = true;
    const options = { settings, health, metrics, logger, isRefusedPeer: () => isRefused };
    const started = await startAdminServers(options);
    if (!started.ok) throw new Error(started.error.message);
    const answer = async (port: number): Promise<string> => {
      let text = "";
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
      socket.write("GET /healthz HTTP/1.0\r\n\r\n");
      await once(socket, "close").catch(() => undefined);
      return text;
    };
    try {
      const { adminPort, healthPort } = started.value;
      for (const port of [adminPort, healthPort]) expect(await answer(port)).to.equal("");
      isRefused = false;
      expect(await answer(healthPort)).to.match(/^HTTP\/1\.1 200 /);
      expect(await answer(adminPort)).to.match(/^HTTP\/1\.1 404 /);
    } finally {
      await started.value.close();
    }
  });

  it("both servers and their open connections end at once on close", async () => {
    const started = await startAdminServers({ settings, health, metrics, logger });
    if (!started.ok) throw new Error(started.error.message);
    const idle = connect(started.value.adminPort, "127.0.0.1");
    idle.on("error", () => {});
    await once(idle, "connect");
    const closed = once(idle, "close");
    await started.value.close();
    await closed;
    const late = connect(started.value.adminPort, "127.0.0.1");
    const [error] = (await once(late, "error")) as [NodeJS.ErrnoException];
    expect(error.code).to.equal("ECONNREFUSED");
  });

  it("a process that shuts down is unready at once, while /healthz still answers ok", async () => {
    health.beginShutdown();
    expect(await ask(servers.healthPort, "/readyz")).to.include({ status: 503, body: "shutting down\n" });
    expect(await ask(servers.healthPort, "/healthz")).to.include({ status: 200, body: "ok" });
  });
});
