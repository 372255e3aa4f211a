import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import type { MirrorTarget } from "@svc-gateway/common/features/mirror-target.ts";
import { expect } from "chai";
import { eventually, type Plan } from "./gateway.ts";
import { serveRoute, startRecorder, type ServedRoute } from "./served-route.ts";

type Url = NonNullable<MirrorTarget[number]["url"]>;

const requestUri: Url["target"] = [{ variable: "request_uri" }];

describe("mirrors by URL, through the whole data plane", () => {
  let stop: (() => Promise<void>)[] = [];
  /** The requests that the mirror received. */
  let copies: ServedRoute["seen"] = [];

  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
    stop = [];
  });

  async function serve(
    target: Partial<MirrorTarget[number]>,
    features: NonNullable<Plan["features"]> = {},
    plan: Partial<Plan> = {},
  ): Promise<ServedRoute> {
    const { upstream, seen } = await startRecorder();
    stop.push(() => upstream.close());
    copies = seen;
    const mirror = { service: "ns/copy", endpoints: "ns/copy/80", protocol: "http1" as const, ...target };
    const served = await serveRoute({ "mirror-target": [mirror], ...features }, undefined, {
      resources: [
        encodeResource<"endpoints">(endpointsKey("ns/copy/80"), {
          service: "ns/copy",
          resolve: "static",
          addresses: [{ host: "127.0.0.1", port: upstream.port }],
        }),
      ],
      ...plan,
    });
    stop.push(() => served.close());
    return served;
  }

  const url = (change: Partial<Url> = {}): Url => ({
    scheme: "http",
    authority: ["copy.example:8080"],
    target: requestUri,
    ...change,
  });

  it("mirror-target: copies have host and path of their URL, and the body of the request", async () => {
    const { ask, seen } = await serve(
      { url: url({ target: ["/copy", { variable: "request_uri" }] }) },
      { "rewrite-target": { path: { type: "full", value: "/rewritten" } } },
    );
    await ask("/a b?x=1".replace(" ", "%20"), { method: "PUT", body: "payload", headers: { "x-a": "1" } });
    await eventually(() => copies[0]?.body === "payload");
    expect(seen[0]?.message.url).to.equal("/rewritten?x=1");
    const { method, url: path, headers } = copies[0]?.message ?? {};
    expect([method, path]).to.deep.equal(["PUT", "/copy/a%20b?x=1"]);
    expect(headers).to.include({ host: "copy.example:8080", "x-a": "1" });
  });

  it("mirror-target: copies come without a body where the URL says so", async () => {
    const { ask, seen } = await serve({ url: url({ withoutBody: true }) });
    await ask("/a", { method: "POST", body: "payload" });
    await eventually(() => copies.length === 1);
    expect(seen[0]?.body).to.equal("payload");
    expect(copies[0]?.message.headers).not.to.have.property("transfer-encoding");
    expect(copies[0]?.body).to.equal("");
  });

  it("mirror-target: a client cannot make a malformed host of a copy", async () => {
    const { ask } = await serve({ url: url({ authority: [{ variable: "http", name: "x-to" }] }) });
    await ask("/", { headers: { "x-to": "a/b" } });
    await ask("/", { headers: { "x-to": "ok.example" } });
    await eventually(() => copies.length === 2);
    expect(copies.map(({ message }) => message.headers.host)).to.have.members(["a.example", "ok.example"]);
  });

  it("mirror-target: a host that the gateway serves gets copies through its own routes, and they are not copied again", async () => {
    const { ask, seen, gateway } = await serve(
      {
        endpoints: undefined,
        url: url({ authority: ["b.example"], servedHosts: true, target: ["/copied"] }),
      },
      {},
      { hosts: ["a.example", "b.example"] },
    );
    await ask("/a", { method: "POST", body: "payload" });
    await eventually(() => seen.length === 2 && seen.every(({ body }) => body === "payload"));
    await eventually(() => gateway.records.length === 3);
    expect(seen.map(({ message }) => `${message.headers.host} ${message.url}`)).to.have.members([
      "a.example /a",
      "b.example /copied",
    ]);
    expect(gateway.records.filter(({ mirror }) => mirror === true).map(({ status }) => status)).to.deep.equal(
      [200],
    );
  });

  it("mirror-target: a host that the gateway does not serve gets nothing, and the request is served", async () => {
    const { ask, seen } = await serve({
      endpoints: undefined,
      url: url({ authority: ["elsewhere.example"], servedHosts: true }),
    });
    expect((await ask("/a")).body).to.equal("upstream");
    expect(seen).to.have.length(1);
    expect(copies).to.have.length(0);
  });
});
