import { createHmac } from "node:crypto";
import { expect } from "chai";
import { endpointsKey, sessionKeyKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Backend, BackendChoice, Route } from "@svc-gateway/common/ir/route.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import {
  exchange,
  startGateway,
  startHttp,
  startTcp,
  type Gateway,
  type HttpUpstream,
  type Plan,
} from "./gateway.ts";

type Answer = { readonly status: string; readonly by: string; readonly setCookie: string | undefined };

describe("sessions of routes, through the whole data plane", () => {
  let upstreams: HttpUpstream[];
  let gateway: Gateway;

  const key = encodeResource<"session-key">(sessionKeyKey, { key: Buffer.alloc(32, 7).toString("base64") });
  const affinity: SessionAffinity = { cookie: "SID", path: "/app" };

  /** Starts so many backends that answer with their number. */
  async function start(count: number, planOf: (ports: readonly number[]) => Plan): Promise<void> {
    upstreams = await Promise.all(
      Array.from({ length: count }, (_, index) =>
        startHttp((_request, response) => void response.end(`#${index}`)),
      ),
    );
    gateway = await startGateway(planOf(upstreams.map(({ port }) => port)));
  }
  afterEach(async () => {
    await gateway.close();
    for (const upstream of upstreams) await upstream.close();
  });

  async function ask(fields: Readonly<Record<string, string>> = {}, path = "/"): Promise<Answer> {
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    const text = await exchange(
      gateway.port,
      `GET ${path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n${lines.join("")}\r\n`,
    );
    return {
      status: text.slice(9, 12),
      by: /#\d/.exec(text)?.[0] ?? "",
      setCookie: /^set-cookie: (.*)\r$/im.exec(text)?.[1],
    };
  }
  const cookieOf = ({ setCookie = "" }: Answer): string => setCookie.split(";", 1)[0] ?? "";
  const repeated = async (
    fields: Readonly<Record<string, string>>,
    path?: string,
  ): Promise<ReadonlySet<string>> =>
    new Set(await Promise.all(Array.from({ length: 12 }, async () => (await ask(fields, path)).by)));

  it("a session stays on the endpoint that its cookie names, and gets no other cookie", async () => {
    await start(3, (ports) => ({ ports, resources: [key], route: { affinity } }));
    const first = await ask();
    expect(first.setCookie).to.match(/^SID=[0-9a-f]{32}; Path=\/app; HttpOnly$/);
    expect(await repeated({ Cookie: `a=1; ${cookieOf(first)}` })).to.deep.equal(new Set([first.by]));
    expect((await ask({ Cookie: cookieOf(first) })).setCookie).to.equal(undefined);
    expect((await ask({ Cookie: "SID=0123" })).setCookie).to.match(/^SID=[0-9a-f]{32};/);
  });

  it("a session stays on its endpoint when others are added, and moves when its own is removed", async () => {
    await start(3, ([port = 0]) => ({ ports: [port], resources: [key], route: { affinity } }));
    const first = await ask();
    const cookie = { Cookie: cookieOf(first) };
    const [own = 0, ...others] = upstreams.map(({ port }) => port);
    gateway.update({ ...gateway.plan, ports: [...others, own] });
    expect(await repeated(cookie)).to.deep.equal(new Set([first.by]));
    expect((await repeated({})).size).to.equal(3);
    gateway.update({ ...gateway.plan, ports: others });
    const moved = await ask(cookie);
    expect(moved.by).to.not.equal(first.by);
    expect(cookieOf(moved)).to.match(/^SID=/).and.not.equal(cookie.Cookie);
  });

  it("the cookie has the attributes of the route", async () => {
    await start(1, (ports) => ({
      ports,
      resources: [key],
      route: {
        affinity: {
          ...affinity,
          domain: "a.example",
          expiresSeconds: 3600,
          maxAgeSeconds: 7200,
          sameSite: "None",
          omitsNoneIfMisread: true,
          alwaysSecure: true,
        },
      },
    }));
    const { setCookie } = await ask({ "User-Agent": "Mozilla/5.0 Chrome/120.0" });
    expect(setCookie).to.match(
      /^SID=[0-9a-f]{32}; Expires=\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT; Max-Age=7200; Domain=a\.example; Path=\/app; Secure; HttpOnly; SameSite=None$/,
    );
    for (const userAgent of [
      "Mozilla/5.0 Chrome/55.0.2883.87 Safari/537.36",
      "Mozilla/5.0 (iPhone; CPU iPhone OS 12_4 like Mac OS X) AppleWebKit/605.1.15",
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_14_6) AppleWebKit/605.1.15 (KHTML) Version/12.1.2 Safari/605.1.15",
    ]) {
      expect((await ask({ "User-Agent": userAgent })).setCookie).to.match(/; HttpOnly$/);
    }
  });

  it("a cookie without Secure is not Partitioned, because browsers refuse such a cookie", async () => {
    await start(1, (ports) => ({
      ports,
      resources: [key],
      route: { affinity: { ...affinity, partitioned: true } },
    }));
    expect((await ask()).setCookie).to.match(/; HttpOnly$/);
  });

  it("a route without affinity to the same Service neither reads nor sets the cookie", async () => {
    const other: Route = {
      id: "ingress/ns/other:0.0",
      source: { kind: "Ingress", namespace: "ns", name: "other" },
      match: { path: { type: "prefix", value: "/other" } },
      backends: [{ weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol: "http1" }],
    };
    await start(2, (ports) => ({ ports, resources: [key], route: { affinity }, before: [other] }));
    const cookie = { Cookie: cookieOf(await ask()) };
    expect((await repeated(cookie, "/other")).size).to.equal(2);
    expect((await ask({}, "/other")).setCookie).to.equal(undefined);
  });

  it("a retry stays on the endpoint of its session unless the route lets it change on failure", async () => {
    let tries = 0;
    const failing = await startTcp((socket) => {
      socket.once("data", () => {
        tries++;
        socket.destroy();
      });
    });
    const value = createHmac("sha256", Buffer.alloc(32, 7))
      .update(`ns/web|127.0.0.1:${failing.port}`)
      .digest("hex");
    const fields = { Cookie: `SID=${value.slice(0, 32)}` };
    await start(1, ([port = 0]) => ({
      ports: [failing.port, port],
      resources: [key],
      features: { retry: { attempts: 2, codes: [], conditions: ["error"] } },
      route: { affinity },
    }));
    try {
      expect(await ask(fields)).to.deep.equal({ status: "502", by: "", setCookie: undefined });
      expect(tries).to.equal(3);
      gateway.update({ ...gateway.plan, route: { affinity: { ...affinity, changesOnFailure: true } } });
      const moved = await ask(fields);
      expect([moved.status, moved.by, tries]).to.deep.equal(["200", "#0", 4]);
      expect(cookieOf(moved)).to.match(/^SID=/).and.not.equal(fields.Cookie);
      expect((await ask({ Cookie: cookieOf(moved) })).setCookie).to.equal(undefined);
    } finally {
      await failing.close();
    }
  });

  describe("with a canary", () => {
    const canary = (port: number): Resource =>
      encodeResource<"endpoints">(endpointsKey("ns/canary/80"), {
        service: "ns/canary",
        resolve: "static",
        addresses: [{ host: "127.0.0.1", port }],
      });
    const toCanary: BackendChoice["weights"] = [0, 1];
    const toPrimary: BackendChoice["weights"] = [1, 0];
    const backends = (rest: Partial<Backend> = {}): readonly Backend[] => [
      { weight: 1, service: "ns/web", endpoints: "ns/web/80", protocol: "http1" },
      { weight: 0, service: "ns/canary", endpoints: "ns/canary/80", protocol: "http1", ...rest },
    ];
    const header = (value: string) => ({ headers: [{ name: "x-canary", type: "exact" as const, value }] });
    const cookie = (value: string) => ({ cookies: [{ name: "canary", type: "exact" as const, value }] });

    const startWith = (route: Partial<Route>): Promise<void> =>
      start(2, ([port = 0, canaryPort = 0]) => ({
        ports: [port],
        resources: [key, canary(canaryPort)],
        route: { backends: backends(), ...route },
      }));

    it("the first choice whose condition holds decides over the weights", async () => {
      await startWith({
        choices: [
          { when: header("always"), weights: toCanary },
          { when: header("never"), weights: toPrimary },
          { when: cookie("always"), weights: toCanary },
          { when: cookie("never"), weights: toPrimary },
        ],
        backends: backends({ weight: 1_000_000 }),
      });
      expect(await repeated({ "X-Canary": "never" })).to.deep.equal(new Set(["#0"]));
      expect(await repeated({ "X-Canary": "always", Cookie: "canary=never" })).to.deep.equal(new Set(["#1"]));
      expect(await repeated({ "X-Canary": "other", Cookie: "a=b; canary=never" })).to.deep.equal(
        new Set(["#0"]),
      );
      expect(await repeated({ Cookie: "canary=always" })).to.deep.equal(new Set(["#1"]));
      expect(await repeated({ Cookie: "canary=other" })).to.deep.equal(new Set(["#1"]));
    });

    it("a session stays with the backend that has it against all choices", async () => {
      await startWith({ affinity, choices: [{ when: header("always"), weights: toCanary }] });
      const primary = { Cookie: cookieOf(await ask()) };
      const ofCanary = await ask({ "X-Canary": "always" });
      expect(ofCanary.by).to.equal("#1");
      expect(await repeated({ Cookie: cookieOf(ofCanary) })).to.deep.equal(new Set(["#1"]));
      expect(await repeated({ ...primary, "X-Canary": "always" })).to.deep.equal(new Set(["#0"]));
    });

    it("a backend that is not bound sets no cookie, and sessions of others stay where they are", async () => {
      await startWith({
        affinity,
        choices: [{ when: header("always"), weights: toCanary }],
        backends: backends({ unbound: true }),
      });
      const primary = { Cookie: cookieOf(await ask()) };
      expect(await ask({ "X-Canary": "always" })).to.include({ by: "#1", setCookie: undefined });
      expect(await repeated({ ...primary, "X-Canary": "always" })).to.deep.equal(new Set(["#0"]));
    });
  });
});
