import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { endpointsKey, ownPortsKey } from "@svc-gateway/common/ir/keys.ts";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { expect } from "chai";
import { grpcCheck, httpCheck, gateName } from "./ext-auth-support.ts";
import { exchange, startGateway, startHttp, startTcp, type Gateway, type Plan } from "./gateway.ts";
import { l4Route, startL4, type L4Gateway } from "./l4.ts";

const get = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
const statusOf = (answer: string): string => answer.slice(9, 12);

/** An endpoint set under its name, as a resource that a plan adds. */
const endpointsAt = (name: string, host: string, port: number): Resource =>
  encodeResource<"endpoints">(endpointsKey(name), {
    service: name.split("/", 2).join("/"),
    resolve: /[a-z]/.test(host) && !host.includes(":") ? "dns" : "static",
    addresses: [{ host, port }],
  } satisfies EndpointSet);

const ownPorts = (host: string, port: number): Resource =>
  encodeResource<"own-ports">(ownPortsKey, { addresses: [{ host, ports: [port] }] });

describe("Ports of the gateway itself", () => {
  const closing: { close(): unknown }[] = [];
  /** The port of a server that replaces an admin port. No connection to it may ever be made. */
  let adminPort: number;
  let connections: number;

  beforeEach(async () => {
    connections = 0;
    const admin = await startTcp((socket) => {
      connections++;
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
    });
    closing.push(admin);
    adminPort = admin.port;
  });

  afterEach(async () => {
    for (const one of closing.splice(0).toReversed()) await one.close();
  });

  const start = async (plan: Plan, ...flags: readonly string[]): Promise<Gateway> => {
    const gateway = await startGateway(plan, flags);
    closing.push(gateway);
    return gateway;
  };

  const startLow = async (
    plan: Parameters<typeof startL4>[0],
    ...flags: readonly string[]
  ): Promise<L4Gateway> => {
    const gateway = await startL4(plan, flags);
    closing.push(gateway);
    return gateway;
  };

  for (const protocol of ["http1", "http2"] as const) {
    for (const flag of ["admin-port", "health-port"]) {
      it(`the gateway's own port (--${flag}) as a backend over ${protocol} is answered 503`, async () => {
        const gateway = await start({ ports: [adminPort], protocol }, `--${flag}=${adminPort}`);
        expect(statusOf(await exchange(gateway.port, get))).to.equal("503");
        expect(gateway.records.at(-1)).to.include({
          status: 503,
          error: "endpoint is a port of the gateway",
        });
        expect(connections).to.equal(0);
      });
    }
  }

  it("an own port of another pod is answered 503 while the snapshot names it", async () => {
    const plan = { ports: [adminPort] };
    const gateway = await start({ ...plan, resources: [ownPorts("127.0.0.1", adminPort)] });
    expect(statusOf(await exchange(gateway.port, get))).to.equal("503");
    expect(connections).to.equal(0);
    gateway.update(plan);
    expect(statusOf(await exchange(gateway.port, get))).to.equal("200");
  });

  it("the other endpoints of a Service answer while its endpoint on an own port gets 503", async () => {
    const good = await startHttp((_, response) => void response.end("good"));
    closing.push(good);
    const gateway = await start({ ports: [adminPort, good.port] }, `--admin-port=${adminPort}`);
    const statuses = new Set<string>();
    for (let i = 0; i < 6; i++) statuses.add(statusOf(await exchange(gateway.port, get)));
    expect([...statuses].sort()).to.deep.equal(["200", "503"]);
    expect(connections).to.equal(0);
  });

  const [host] = Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .flatMap(({ family, internal, address }) => (family === "IPv4" && !internal ? [address] : []));
  const spellings = [
    "127.0.0.1",
    "127.3.2.1",
    "::ffff:127.0.0.1",
    "0.0.0.0",
    "localhost",
    ...(host ? [host] : []),
  ];
  for (const spelling of spellings) {
    it(`an own port at ${spelling === host ? "an address of an interface" : spelling} gets no mirror, check request or TCP connection`, async () => {
      const good = await startHttp((_, response) => void response.end("good"));
      closing.push(good);
      const flags = [`--admin-port=${adminPort}`];
      const resources = [endpointsAt(gateName, spelling, adminPort)];
      const asked = await start(
        { ports: [good.port], resources, features: { "ext-auth": [{ check: httpCheck }] } },
        ...flags,
      );
      expect(statusOf(await exchange(asked.port, get)), "ext-auth over HTTP").to.equal("503");
      asked.update({ ports: [good.port], resources, features: { "ext-auth": [{ check: grpcCheck }] } });
      expect(statusOf(await exchange(asked.port, get)), "ext-auth over gRPC").to.equal("503");
      const mirror = { service: "ns/gate", endpoints: gateName, protocol: "http1" as const };
      asked.update({ ports: [good.port], resources, features: { "mirror-target": [mirror] } });
      expect(statusOf(await exchange(asked.port, get)), "mirror").to.equal("200");
      const low = await startLow({ tcp: l4Route([gateName, 1]), endpoints: {}, resources }, ...flags);
      const socket = connect(low.tcpPort, "127.0.0.1");
      socket.on("error", () => {});
      socket.resume().write("GET /metrics HTTP/1.0\r\n\r\n");
      await once(socket, "close").catch(() => undefined);
      // A whole exchange later copies have been sent, or never will be.
      expect(statusOf(await exchange(asked.port, get))).to.equal("200");
      expect(connections).to.equal(0);
    });
  }

  it("an own port gets no datagrams", async () => {
    const backend = createSocket("udp4");
    closing.push(backend);
    let datagrams = 0;
    backend.on("message", () => datagrams++);
    backend.bind(0, "127.0.0.1");
    await once(backend, "listening");
    const { port } = backend.address();
    const set = "ns/dns/53/udp";
    const low = await startLow(
      { udp: l4Route([set, 1]), endpoints: { [set]: [port] } },
      `--health-port=${port}`,
    );
    const client = createSocket("udp4");
    closing.push(client);
    client.send("x", low.udpPort, "127.0.0.1");
    let dropped: readonly string[] = [];
    while (!dropped.some((line) => line.includes("error"))) {
      await new Promise((resolve) => setImmediate(resolve));
      dropped = await low.samples("svc_proxy_udp_datagrams_dropped_total");
    }
    expect(dropped).to.deep.equal(['{listener="5300",reason="error"} 1']);
    expect(datagrams).to.equal(0);
  });

  it("a loopback port is not an own port when the management address is another one", async () => {
    const gateway = await start(
      { ports: [adminPort] },
      `--admin-port=${adminPort}`,
      "--management-bind-address=192.0.2.77",
    );
    expect(statusOf(await exchange(gateway.port, get))).to.equal("200");
  });
});
