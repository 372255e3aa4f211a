import { expect } from "chai";
import { createUpstreamLinks } from "../../src/state/upstream-links.ts";
import { anyRequest, fakeUpstreams } from "./support.ts";

const set = (...hosts: readonly string[]) => ({
  service: "ns/web",
  resolve: "static" as const,
  addresses: hosts.map((host) => ({ host, port: 80 })),
});

describe("upstream links", () => {
  it("ask once and see every change of their endpoint set", () => {
    const upstreams = fakeUpstreams();
    const links = createUpstreamLinks(upstreams);
    const current = links.to("ns/web/http", "http1");
    links.update({ endpoints: new Map([["ns/web/http", set("10.0.0.1")]]) });
    expect(current().pick(anyRequest)?.endpoint.host).to.equal("10.0.0.1");
    expect(current()).to.equal(current());
    expect(upstreams.lookups).to.equal(1);
    links.update({ endpoints: new Map([["ns/other/http", set("10.0.0.9")]]) });
    expect(current().pick(anyRequest)?.endpoint.host).to.equal("10.0.0.1");
    expect(upstreams.lookups).to.equal(1);
    links.update({ endpoints: new Map([["ns/web/http", set("10.0.0.2")]]) });
    expect(current().pick(anyRequest)?.endpoint.host).to.equal("10.0.0.2");
  });

  it("share a link per protocol", () => {
    const upstreams = fakeUpstreams();
    const links = createUpstreamLinks(upstreams);
    links.update({ endpoints: new Map([["ns/web/http", set("10.0.0.1")]]) });
    expect(links.to("ns/web/http", "http1")()).to.equal(links.to("ns/web/http", "http1")());
    expect(links.to("ns/web/http", "http2")().protocol).to.equal("http2");
    expect(upstreams.lookups).to.equal(2);
  });

  it("leave requests under way the upstream of a set that is gone", () => {
    const links = createUpstreamLinks(fakeUpstreams());
    links.update({ endpoints: new Map([["ns/web/http", set("10.0.0.1")]]) });
    const before = links.to("ns/web/http", "http1");
    const upstream = before();
    links.update({ endpoints: new Map([["ns/web/http", undefined]]) });
    expect(before()).to.equal(upstream);
    links.update({ endpoints: new Map([["ns/web/http", set("10.0.0.2")]]) });
    expect(links.to("ns/web/http", "http1")().pick(anyRequest)?.endpoint.host).to.equal("10.0.0.2");
    expect(before()).to.equal(upstream);
  });
});
