import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { createUpstreamLinks } from "../../src/state/upstream-links.ts";
import { anyRequest, fakeUpstreams } from "./support.ts";

const set = (...hosts: readonly string[]) => ({
  service: "ns/web",
  resolve: "static" as const,
  addresses: hosts.map((host) => ({ host, port: 80 })),
});

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  // What a reference was read from in this turn stays until its end.
  await new Promise((resolve) => setImmediate(resolve));
  (runInNewContext("gc") as () => void)();
}

describe("upstream links", () => {
  it("a link looks its upstream up once and follows every change of its endpoint set", () => {
    const upstreams = fakeUpstreams();
    const links = createUpstreamLinks(upstreams);
    const current = links.to("ns/web/http", "http1");
    upstreams.update({ endpoints: new Map([["ns/web/http", set("10.0.0.1")]]) });
    expect(current().pick(anyRequest)?.endpoint.host).to.equal("10.0.0.1");
    expect(current()).to.equal(current());
    expect(upstreams.lookups).to.equal(1);
    upstreams.update({ endpoints: new Map([["ns/other/http", set("10.0.0.9")]]) });
    expect(current().pick(anyRequest)?.endpoint.host).to.equal("10.0.0.1");
    expect(upstreams.lookups).to.equal(1);
    upstreams.update({ endpoints: new Map([["ns/web/http", set("10.0.0.2")]]) });
    expect(current().pick(anyRequest)?.endpoint.host).to.equal("10.0.0.2");
  });

  it("a link looks up the upstream of its protocol and client certificate", () => {
    const asked: unknown[] = [];
    const upstreams = fakeUpstreams();
    const links = createUpstreamLinks({
      ...upstreams,
      get(...target) {
        asked.push(target);
        return upstreams.get(...target);
      },
    });
    upstreams.update({ endpoints: new Map([["ns/web/http", set("10.0.0.1")]]) });
    links.to("ns/web/http", "http1")();
    links.to("ns/web/http", "http2", "ns/gateway")();
    expect(asked).to.deep.equal([
      ["ns/web/http", "http1", undefined],
      ["ns/web/http", "http2", "ns/gateway"],
    ]);
  });

  it("a link follows an endpoint set that is added after the first lookup", () => {
    const upstreams = fakeUpstreams();
    upstreams.update({ endpoints: new Map([["ns/web/http", set()]]) });
    const links = createUpstreamLinks(upstreams);
    const current = links.to("ns/web/http", "http1");
    expect(current().pick(anyRequest)).to.equal(undefined);
    upstreams.update({ endpoints: new Map([["ns/web/http", set("10.0.0.1")]]) });
    expect(current().pick(anyRequest)?.endpoint.host).to.equal("10.0.0.1");
  });

  it("a link is released together with its last user, also when client certificates change", async () => {
    const upstreams = fakeUpstreams();
    const links = createUpstreamLinks(upstreams);
    upstreams.update({ endpoints: new Map([["ns/web/http", set("10.0.0.1")]]) });
    const seen: WeakRef<() => unknown>[] = [];
    for (let gateway = 0; gateway < 100; gateway++) {
      const current = links.to("ns/web/http", "http1", `ns/gateway-${gateway}`);
      current();
      seen.push(new WeakRef(current));
    }
    await collectGarbage();
    expect(seen.filter((one) => one.deref() !== undefined).length).to.be.at.most(1);
    upstreams.update({ endpoints: new Map([["ns/web/http", set("10.0.0.2")]]) });
  });

  it("a request under way keeps the upstream of a removed endpoint set", () => {
    const upstreams = fakeUpstreams();
    const links = createUpstreamLinks(upstreams);
    upstreams.update({ endpoints: new Map([["ns/web/http", set("10.0.0.1")]]) });
    const before = links.to("ns/web/http", "http1");
    const upstream = before();
    upstreams.update({ endpoints: new Map([["ns/web/http", undefined]]) });
    expect(before()).to.equal(upstream);
    upstreams.update({ endpoints: new Map([["ns/web/http", set("10.0.0.2")]]) });
    expect(links.to("ns/web/http", "http1")().pick(anyRequest)?.endpoint.host).to.equal("10.0.0.2");
    expect(before()).to.equal(upstream);
  });
});
