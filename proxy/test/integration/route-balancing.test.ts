import { expect } from "chai";
import type { RequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import type { Balancing } from "@svc-gateway/common/ir/balancing.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { getOverHttp2 } from "./http2-client.ts";
import { exchange, startGateway, startHttp, type Gateway, type HttpUpstream } from "./gateway.ts";

const hashOf = (key: RequestTemplate, subset?: number): Balancing => ({
  algorithm: "hash",
  key,
  ...(subset !== undefined && { subset }),
});

describe("balancing of routes, through the whole data plane", () => {
  let upstreams: HttpUpstream[];
  let gateway: Gateway;
  /** The number of keys of which none chooses one of four backends with a probability of 4 · (3/4)^100 < 10^-11. */
  const keys = 100;

  /**
   * Four backends that answer with their number, and those at `more` ports, behind `/` with a balancing and `/turns`
   * without one.
   */
  async function start(balancing: Balancing, ...more: readonly number[]): Promise<void> {
    upstreams = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        startHttp((_request, response) => void response.end(`#${index}`)),
      ),
    );
    const plain: Route = {
      id: "ingress/ns/plain:0.0",
      source: { kind: "Ingress", namespace: "ns", name: "plain" },
      match: { path: { type: "prefix", value: "/turns" } },
      backends: [{ weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol: "http1" }],
    };
    const ports = [...upstreams.map(({ port }) => port), ...more];
    gateway = await startGateway({ ports, backend: { balancing }, before: [plain] });
  }
  afterEach(async () => {
    await gateway.close();
    for (const upstream of upstreams) await upstream.close();
  });

  async function ask(path: string, fields = ""): Promise<string> {
    const text = await exchange(
      gateway.port,
      `GET ${path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n${fields}\r\n`,
    );
    return /#\d/.exec(text)?.[0] ?? "";
  }
  /** The backends of so many equal requests. */
  async function answering(path: string, fields?: string, count = 12): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for (let i = 0; i < count; i++) found.add(await ask(path, fields));
    return found;
  }

  it("equal keys of several values go to one backend, others to all, and other routes go on in turn", async () => {
    await start(hashOf([{ variable: "http", name: "x-tenant" }, "-", { variable: "request_uri" }]));
    expect((await answering("/a?b=1", "X-Tenant: one\r\n")).size).to.equal(1);
    const spread = new Set<string>();
    for (let i = 0; i < keys; i++) spread.add(await ask("/a", `X-Tenant: t${i}\r\n`));
    expect(spread.size).to.equal(4);
    expect((await answering("/turns", "X-Tenant: one\r\n")).size).to.equal(4);
  });

  it("an empty key leads all requests to one backend, in any order of the endpoints", async () => {
    await start(hashOf([{ variable: "http", name: "x-tenant" }]));
    const before = await answering("/");
    expect(before.size).to.equal(1);
    const { plan } = gateway;
    gateway.update({ ...plan, ports: plan.ports.toReversed() });
    expect(await answering("/")).to.deep.equal(before);
  });

  for (const [name, policy] of [
    ["the header Host", { loadBalancer: { algorithm: "hash", key: { from: "header", name: "host" } } }],
    ["a part with the header Host", { hash: hashOf([{ variable: "http", name: "host" }]) }],
  ] as const) {
    it(`a hash of ${name} leads each host to one backend, over HTTP/1.1 and HTTP/2`, async () => {
      await start(hashOf([{ variable: "uri" }]));
      const { ports } = gateway.plan;
      const hosts = Array.from({ length: keys }, (_, index) => `h${index}.example`);
      const set =
        "hash" in policy ? { balancing: policy.hash } : { policy: { loadBalancer: policy.loadBalancer } };
      gateway.update({ ports, hosts, set });
      const chosen = new Set<string>();
      for (const host of hosts) {
        const text = await exchange(
          gateway.port,
          `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        );
        const { body } = await getOverHttp2(gateway.port, host);
        expect(body).to.match(/^#\d$/);
        expect(text).to.contain(body);
        chosen.add(body);
      }
      expect(chosen.size).to.equal(4);
    });
  }

  it("equal keys go to as many backends as a subset has", async () => {
    await start(hashOf([{ variable: "uri" }], 2));
    expect((await answering("/a", "", 40)).size).to.equal(2);
    const spread = new Set<string>();
    for (let i = 0; i < keys; i++) spread.add(await ask(`/${i}`));
    expect(spread.size).to.equal(4);
  });

  it("a route that hashes nothing has the algorithm that it names", async () => {
    await start({ algorithm: "ewma" });
    expect((await answering("/", "", 20)).size).to.be.greaterThan(1);
  });

  it("a policy of the Service hashes several values for routes that hash nothing themselves", async () => {
    await start({ algorithm: "round_robin" });
    const key: RequestTemplate = [
      { variable: "arg", name: "user" },
      { variable: "http", name: "x-tenant" },
    ];
    gateway.update({ ...gateway.plan, set: { balancing: hashOf(key) } });
    expect((await answering("/turns?user=a", "X-Tenant: one\r\n")).size).to.equal(1);
    const spread = new Set<string>();
    for (let i = 0; i < keys; i++) spread.add(await ask(`/turns?user=${i}`));
    expect(spread.size).to.equal(4);
    expect((await answering("/?user=a")).size, "a route with a balancing of its own").to.equal(4);
  });

  it("the hash of a policy leaves requests without any of its values to backends in turn", async () => {
    await start({ algorithm: "round_robin" });
    gateway.update({ ...gateway.plan, set: { balancing: hashOf([{ variable: "http", name: "x-tenant" }]) } });
    expect((await answering("/turns")).size).to.equal(4);
    expect((await answering("/turns", "X-Tenant: one\r\n")).size).to.equal(1);
  });

  it("a retry of a hashed request goes to another backend", async () => {
    const refusing = await holdRefusingPort();
    await start(hashOf([{ variable: "http", name: "x-tenant" }]), refusing.port);
    let tenant = 0;
    while ((await ask("/", `X-Tenant: ${tenant}\r\n`)) !== "") tenant++;
    const { plan } = gateway;
    gateway.update({ ...plan, features: { retry: { attempts: 2, codes: [] } } });
    const after = await answering("/", `X-Tenant: ${tenant}\r\n`);
    expect(after.size).to.equal(1);
    expect(after).to.not.include("");
    refusing.close();
  });
});
