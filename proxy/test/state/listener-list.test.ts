import { expect } from "chai";
import { listListeners } from "../../src/state/listener-list.ts";

describe("listListeners", () => {
  it("each port and protocol is listed once, sorted", () => {
    const http = { port: 80, publicPort: 80, protocol: "http" } as const;
    const https = { port: 443, publicPort: 8443, protocol: "https" } as const;
    const udp = { port: 53, publicPort: 53, protocol: "udp" } as const;
    const tcp = { port: 53, publicPort: 53, protocol: "tcp" } as const;
    const sets = new Map([
      ["ns/gw", { listeners: [{ ...http, publicPort: 8080 }, udp, tcp] }],
      ["ingress", { listeners: [https, http] }],
    ]);
    expect(listListeners(sets)).to.deep.equal([
      { ...tcp, owner: "ns/gw", publicPorts: { gateway: 53 } },
      { ...udp, owner: "ns/gw", publicPorts: { gateway: 53 } },
      { ...http, owner: "ingress", publicPorts: { ingress: 80, gateway: 8080 } },
      { ...https, owner: "ingress", publicPorts: { ingress: 8443 } },
    ]);
    expect(listListeners(new Map())).to.deep.equal([]);
  });

  it("the PROXY protocol settings of one owner hold for the whole shared socket", () => {
    const http = { port: 80, publicPort: 80, protocol: "http" } as const;
    const proxyProtocol = { accepted: true, trustedPeers: ["10.0.0.0/8"] };
    const sets = new Map([
      ["ingress", { listeners: [http] }],
      ["ns/gw", { listeners: [{ ...http, publicPort: 8080, proxyProtocol }] }],
    ]);
    const publicPorts = { ingress: 80, gateway: 8080 };
    expect(listListeners(sets)).to.deep.equal([{ ...http, owner: "ingress", publicPorts, proxyProtocol }]);
  });

  it("the connection limit of one owner holds for the whole shared socket, the first one if several set it", () => {
    const http = { port: 80, publicPort: 80, protocol: "http" } as const;
    const sets = new Map([
      ["ingress", { listeners: [http] }],
      ["ns/gw", { listeners: [{ ...http, maxConnections: 5 }] }],
      ["ns/other", { listeners: [{ ...http, maxConnections: 7 }] }],
    ]);
    const publicPorts = { ingress: 80, gateway: 80 };
    expect(listListeners(sets)).to.deep.equal([
      { ...http, owner: "ingress", publicPorts, maxConnections: 5 },
    ]);
  });
});
