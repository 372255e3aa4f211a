import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { expect } from "chai";
import {
  eventually,
  startGateway,
  startHttp,
  type Gateway,
  type HttpUpstream,
  type Plan,
} from "./gateway.ts";

type Answer = { readonly status: number | undefined; readonly retryAfter: string | undefined };

describe("features that look at the client's address", () => {
  let gateway: Gateway;
  let port: number;
  /** The fields of every request that reached the upstream. */
  let seen: IncomingMessage["headers"][] = [];
  let upstream: HttpUpstream;

  before(async () => {
    upstream = await startHttp((request, response) => {
      seen.push(request.headers);
      response.end("ok");
    });
    ({ port } = upstream);
    gateway = await startGateway({ ports: [port] });
  });

  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  beforeEach(() => {
    seen = [];
    gateway.records.length = 0;
  });

  const serve = (features: Plan["features"]): void => gateway.update({ ports: [port], features });

  const get = async (headers: Record<string, string> = {}): Promise<Answer> => {
    const request = httpRequest({
      host: "127.0.0.1",
      port: gateway.port,
      headers: { host: "a.example", ...headers },
      agent: false,
    });
    request.end();
    const [message] = (await once(request, "response")) as [IncomingMessage];
    message.resume();
    await once(message, "end");
    return { status: message.statusCode, retryAfter: message.headers["retry-after"] };
  };

  const asClient = (ip: string) => ({ "X-Forwarded-For": ip, "X-Forwarded-Proto": "https" });

  it("trust-forwarded-for: the client behind a trusted proxy is shown to the backend and the access log", async () => {
    serve({ "trust-forwarded-for": { header: "X-Forwarded-For", trustedCidrs: ["127.0.0.0/8"] } });
    await get(asClient("198.51.100.1, 203.0.113.5, 10.0.0.1"));
    expect(seen[0]).to.include({
      "x-forwarded-for": "198.51.100.1, 203.0.113.5, 10.0.0.1, 127.0.0.1",
      "x-forwarded-proto": "https",
      "x-real-ip": "203.0.113.5",
    });
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]?.clientIp).to.equal("203.0.113.5");
  });

  it("trust-forwarded-for: other peers are not trusted, nor is any peer on a route without the feature", async () => {
    for (const features of [
      { "trust-forwarded-for": { header: "X-Forwarded-For", trustedCidrs: ["192.0.2.0/24"] } },
      {},
    ]) {
      seen = [];
      serve(features);
      await get(asClient("203.0.113.5"));
      expect(seen[0]).to.include({
        "x-forwarded-for": "127.0.0.1",
        "x-forwarded-proto": "http",
        "x-real-ip": "127.0.0.1",
      });
    }
  });

  it("ip-access-control: clients are admitted by address before any upstream connection", async () => {
    const trust = { "trust-forwarded-for": { header: "X-Forwarded-For", trustedCidrs: ["127.0.0.0/8"] } };
    serve({ ...trust, "ip-access-control": { deny: ["203.0.113.9/32"], allow: ["203.0.113.0/24"] } });
    const statuses = [];
    for (const ip of ["203.0.113.5", "203.0.113.9", "198.51.100.1"]) {
      statuses.push((await get(asClient(ip))).status);
    }
    expect(statuses).to.deep.equal([200, 403, 403]);
    expect(seen).to.have.lengthOf(1);
    serve({ "ip-access-control": { deny: [], allow: ["203.0.113.0/24"] } });
    expect((await get(asClient("203.0.113.5"))).status).to.equal(403);
    serve({});
    expect((await get()).status).to.equal(200);
  });

  it("rate-limit: the rate of each client is limited, also across changes of the configuration", async () => {
    const trust = { "trust-forwarded-for": { header: "X-Forwarded-For", trustedCidrs: ["127.0.0.0/8"] } };
    // So slow that no test run lasts until the next request is due.
    serve({ ...trust, "rate-limit": { requestsPerSecond: 0.0001, burst: 2 } });
    const statuses = [];
    for (const ip of ["203.0.113.21", "203.0.113.21", "203.0.113.22"]) {
      statuses.push((await get(asClient(ip))).status);
    }
    expect(statuses).to.deep.equal([200, 200, 200]);
    serve({
      ...trust,
      "rate-limit": { requestsPerSecond: 0.0001, burst: 2 },
      "max-body-size": { maxBytes: 1 },
    });
    const refused = await get(asClient("203.0.113.21"));
    expect(refused.status).to.equal(429);
    expect(Number(refused.retryAfter)).to.be.within(1, 10_000);
    expect(seen).to.have.lengthOf(3);
  });
});
