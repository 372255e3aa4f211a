import { connect } from "node:net";
import { expect } from "chai";
import { routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ListenerFilter, Route } from "@svc-gateway/common/ir/route.ts";
import { createSharedMemory } from "../../src/shared/shared-memory.ts";
import { createShareMemory } from "../../src/shared/share-memory.ts";
import { pattern } from "../routing/support.ts";
import { startGateway, startHttp, type Gateway } from "./gateway.ts";

const byKey = { "rate-limit": { requestsPerSecond: 0.001, burst: 0, byHeader: "x-key" } } as const;

/** Sends all requests on one connection without waiting, and resolves with the statuses of their answers. */
function statuses(port: number, requests: readonly string[]): Promise<number[]> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.on("error", () => {});
    socket.on("close", () =>
      resolve([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))),
    );
    socket.end(requests.join(""));
  });
}

const asked = (host: string, path: string, key: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Key: ${key}\r\n\r\n`;

describe("rate limits of several namespaces, through the whole data plane", () => {
  let gateway: Gateway;
  let upstream: Awaited<ReturnType<typeof startHttp>>;

  const route = (namespace: string, name: string, path: string): Route => ({
    id: `httproute/${namespace}/${name}:0`,
    source: { kind: "HTTPRoute", namespace, name },
    match: { path: { type: "prefix", value: path } },
    features: byKey,
    backends: [{ weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol: "http1" }],
  });
  const table = (host: string, listener: string, routes: Route[], filters?: ListenerFilter[]): Resource =>
    encodeResource<"route">(routeKey("gateway", 80, pattern(host)), {
      listener,
      inherit: true,
      routes,
      ...(filters && { filters }),
    });

  before(async () => {
    upstream = await startHttp((_, response) => void response.end());
    const resources = [
      table("shop.example", "Gateway/edge/gw/shop", [
        route("shop", "web", "/"),
        route("shop", "api", "/api"),
      ]),
      table("evil.example", "Gateway/edge/gw/evil", [route("evil", "web", "/")]),
      table("guarded.example", "Gateway/team/gw/http", [], [{ features: byKey }]),
    ];
    const memory = { ...createSharedMemory(1), rates: createShareMemory(8) };
    gateway = await startGateway({ ports: [upstream.port], hosts: [], resources }, [], memory);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** Sends one request of each of `clients` clients. */
  const flood = async (host: string, path: string, clients: number): Promise<void> => {
    const keys = Array.from({ length: clients }, (_, index) => asked(host, path, `flood ${index}`));
    for (let at = 0; at < keys.length; at += 500) await statuses(gateway.port, keys.slice(at, at + 500));
  };

  it("rate limits stay reached when another namespace or route has more clients than there are places", async () => {
    const known = Array.from({ length: 100 }, (_, index) => `client ${index}`);
    const onRoute = known.map((key) => asked("shop.example", "/api/x", key));
    const onListener = known.map((key) => asked("guarded.example", "/", key));
    expect(new Set(await statuses(gateway.port, onRoute))).to.deep.equal(new Set([200]));
    expect(new Set(await statuses(gateway.port, onListener))).to.deep.equal(new Set([404]));
    await flood("evil.example", "/", 10_000);
    await flood("shop.example", "/", 2_000);
    const answers = await statuses(gateway.port, onRoute);
    expect([answers.length, new Set(answers)]).to.deep.equal([100, new Set([429])]);
    expect(new Set(await statuses(gateway.port, onListener))).to.deep.equal(new Set([429]));
  });
});
