import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { expect } from "chai";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { ResponseMemory } from "../../src/http/response-memory.ts";
import { L4Connections, type L4Connection } from "../../src/l4/connections.ts";
import type { ConnectionRecord } from "../../src/telemetry/connection-log.ts";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";
import { createResolver } from "../../src/upstream/resolver.ts";
import { socketLayer } from "../socket-layers.ts";

describe("L4Connections", () => {
  it("the watch of each failed attempt ends once, so that the load of an endpoint never falls below zero", async () => {
    const refusing = await holdRefusingPort();
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
    const [socket] = (await once(server, "connection")) as [Socket];
    let inFlight = 0;
    let attempts = 0;
    const endpoint = {
      host: "127.0.0.1",
      port: refusing.port,
      address: `127.0.0.1:${refusing.port}`,
    };
    const pick = (): object => {
      inFlight++;
      attempts++;
      return { endpoint, watch: { responded() {}, failed() {}, ended: () => void inFlight-- } };
    };
    const connections = new L4Connections({
      connectTimeoutMs: 0,
      idleTimeoutMs: 0,
      resolver: createResolver(),
      sockets: socketLayer(),
      responseMemory: new ResponseMemory(),
      metrics: createProxyMetrics(),
    });
    const record = await new Promise<ConnectionRecord>((resolve) => {
      connections.accept({
        socket,
        plain: socket,
        owner: {},
        port: 9000,
        portLabel: "9000",
        clientIp: "127.0.0.1",
        secure: false,
        serverName: "",
        route: { route: { id: "r" }, pickUpstream: () => ({ service: "ns/db", pick }) },
        log: resolve,
      } as unknown as L4Connection);
    });
    expect(record.failure?.error).to.equal("connection refused");
    expect(attempts).to.equal(2);
    expect(inFlight).to.equal(0);
    client.destroy();
    server.close();
    refusing.close();
  });
});
