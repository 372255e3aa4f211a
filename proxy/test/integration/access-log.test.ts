import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { eventually, exchange, routeId, startGateway, type Gateway } from "./gateway.ts";

const get = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";

describe("the access log of a class", () => {
  const upstream = createServer((_, response) => void response.end("ok"));
  let gateway: Gateway;
  let port: number;

  before(async () => {
    upstream.listen(0, "127.0.0.1");
    await once(upstream, "listening");
    port = (upstream.address() as AddressInfo).port;
    gateway = await startGateway({ ports: [port] });
  });

  after(async () => {
    await gateway.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  it("has no line for routes that suppress it, refusals included, while they are counted", async () => {
    gateway.update({ ports: [port], accessLog: false });
    expect(await exchange(gateway.port, get)).to.match(/^HTTP\/1\.1 200 /);
    gateway.update({
      ports: [port],
      accessLog: false,
      features: { "ip-access-control": { deny: [], allow: [] } },
    });
    expect(await exchange(gateway.port, get)).to.match(/^HTTP\/1\.1 403 /);
    // The line of a later request comes after all lines of earlier ones.
    gateway.update({ ports: [port] });
    await exchange(gateway.port, get);
    await eventually(() => gateway.records.length > 0);
    expect(gateway.records.map(({ status }) => status)).to.deep.equal([200]);
    const { body } = await gateway.metrics.expose();
    const counted = body
      .split("\n")
      .filter((line) => line.startsWith("svc_proxy_requests_total{") && line.includes(routeId));
    expect(counted.map((line) => Number(line.slice(line.lastIndexOf(" "))))).to.have.members([2, 1]);
  });
});
