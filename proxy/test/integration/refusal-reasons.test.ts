import { createServer } from "node:net";
import { once } from "node:events";
import { expect } from "chai";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { exchange, startGateway, startHttp, type Gateway, type HttpUpstream } from "./gateway.ts";

const get = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";

describe("the reason of a request that fails", () => {
  let upstream: HttpUpstream;
  let gateway: Gateway;
  let port: number;

  before(async () => {
    upstream = await startHttp((_, response) => void response.end("ok"));
    ({ port } = upstream);
    gateway = await startGateway({ ports: [port] });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });
  beforeEach(() => {
    gateway.records.length = 0;
  });

  const counted = async (filter: string, reason: string): Promise<number> => {
    const { body } = await gateway.metrics.expose();
    const start = `svc_proxy_refusals_total{filter="${filter}",reason="${reason}"} `;
    const line = body.split("\n").find((one) => one.startsWith(start));
    return Number(line?.slice(start.length) ?? 0);
  };
  const logged = (): readonly (readonly [number, string | undefined, string | undefined])[] =>
    gateway.records.map(({ status, error, reason }) => [status, error, reason]);

  it("a request that is served has none, and is not counted", async () => {
    gateway.update({ ports: [port] });
    await exchange(gateway.port, get);
    expect(logged()).to.deep.equal([[200, undefined, undefined]]);
    expect((await gateway.metrics.expose()).body).not.to.include("svc_proxy_refusals_total{");
  });

  it("the address of a client is in a denied range, or in no allowed one", async () => {
    gateway.update({ ports: [port], features: { "ip-access-control": { deny: ["127.0.0.0/8"] } } });
    await exchange(gateway.port, get);
    gateway.update({ ports: [port], features: { "ip-access-control": { deny: [], allow: ["10.0.0.0/8"] } } });
    await exchange(gateway.port, get);
    expect(logged()).to.deep.equal([
      [403, "client address not allowed", "address-denied"],
      [403, "client address not allowed", "address-not-allowed"],
    ]);
    expect(gateway.records.map(({ detail }) => detail)).to.deep.equal([
      "denied range 127.0.0.0/8",
      "in none of 1 allowed ranges",
    ]);
    expect(await counted("ip-access-control", "address-denied")).to.equal(1);
  });

  it("a backend refuses connections, resets them, or has no endpoint", async () => {
    const resetting = createServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
    resetting.listen(0, "127.0.0.1");
    await once(resetting, "listening");
    const address = resetting.address();
    const resettingPort = typeof address === "object" ? (address?.port ?? 0) : 0;
    gateway.update({ ports: [resettingPort] });
    await exchange(gateway.port, get.replace("GET", "POST"));
    resetting.close();
    const refusing = await holdRefusingPort();
    gateway.update({ ports: [refusing.port] });
    await exchange(gateway.port, get);
    refusing.close();
    gateway.update({ ports: [] });
    await exchange(gateway.port, get);
    expect(logged()).to.deep.equal([
      [502, "upstream reset", "upstream-reset"],
      [502, "connection refused", "upstream-refused"],
      [503, "no endpoint", "no-endpoint"],
    ]);
    for (const reason of ["upstream-reset", "upstream-refused", "no-endpoint"]) {
      expect(await counted("upstream", reason), reason).to.equal(1);
    }
  });

  it("no route matches, or the head is malformed", async () => {
    gateway.update({ ports: [port] });
    await exchange(gateway.port, get.replace("a.example", "other.example"));
    await exchange(gateway.port, "GET / HTTP/1.1\r\nHost : a\r\n\r\n");
    expect(logged()).to.deep.equal([
      [404, "no route", "no-route"],
      [400, "malformed", "malformed"],
    ]);
    expect([await counted("routing", "no-route"), await counted("client", "malformed")]).to.deep.equal([
      1, 1,
    ]);
  });
});
