import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect as connectHttp2 } from "node:http2";
import { endpointsKey, listenerKey, routeKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { expect } from "chai";
import { issueCertificate } from "../tls/certificates.ts";
import { startGateway, startHttp, type Gateway, type HttpUpstream, type Plan } from "./gateway.ts";

const { chainPem, keyPem } = issueCertificate(["*"]);
const publicPorts = { http: 8000, https: 8443 };

type Answer = { readonly port: string; readonly location: string | undefined };

describe("the port that clients see", () => {
  let gateway: Gateway;
  let upstream: HttpUpstream;
  let plan: Plan;

  before(async () => {
    upstream = await startHttp((request, response) => {
      response.end(String(request.headers["x-forwarded-port"]));
    });
    plan = { ports: [upstream.port], certificate: { chainPem, keyPem }, publicPorts };
    gateway = await startGateway(plan);
  });

  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  /** The resources of Gateways that share the sockets of the Ingresses, for `gw.example`. */
  const gateways = (owners: readonly string[], features?: RouteFeatures): readonly Resource[] => [
    ...owners.map((owner) =>
      encodeResource<"listener">(listenerKey(owner), {
        listeners: [
          { port: 80, publicPort: 80, protocol: "http" },
          { port: 443, publicPort: 443, protocol: "https" },
        ],
      }),
    ),
    ...[80, 443].map((port) =>
      encodeResource<"route">(routeKey("gateway", port, { kind: "exact", host: "gw.example" }), {
        listener: `${owners[0]}/web`,
        inherit: true,
        routes: [
          {
            id: "httproute/ns/gw:0",
            source: { kind: "HTTPRoute", namespace: "ns", name: "gw" },
            match: { path: { type: "prefix", value: "/" } },
            backends: [{ weight: 1, service: "ns/gw", endpoints: "ns/gw/80", protocol: "http1" }],
            ...(features && { features }),
          },
        ],
      }),
    ),
    encodeResource<"endpoints">(endpointsKey("ns/gw/80"), {
      service: "ns/gw",
      resolve: "static",
      addresses: [{ host: "127.0.0.1", port: upstream.port }],
    }),
  ];

  const ask = async (scheme: "http" | "https", host: string): Promise<Answer> => {
    const options: RequestOptions = { host: "127.0.0.1", headers: { host }, agent: false };
    const request =
      scheme === "http"
        ? httpRequest({ ...options, port: gateway.port })
        : httpsRequest({ ...options, port: gateway.tlsPort, servername: host, rejectUnauthorized: false });
    request.end();
    const [message] = (await once(request, "response")) as [IncomingMessage];
    let port = "";
    for await (const chunk of message) port += String(chunk);
    return { port, location: message.headers.location };
  };

  // Of names that sort before and after that of the Ingresses.
  for (const owners of [["a/gw"], ["z/gw"], ["a/gw", "z/gw"]]) {
    it(`the Ingresses keep their public port with the Gateways ${owners.join(" and ")} on the same sockets`, async () => {
      gateway.update({ ...plan, resources: gateways(owners) });
      expect((await ask("http", "a.example")).port).to.equal("8000");
      expect((await ask("https", "a.example")).port).to.equal("8443");
      expect((await ask("http", "gw.example")).port).to.equal("80");
      expect((await ask("https", "gw.example")).port).to.equal("443");
    });
  }

  it("each request on one HTTP/2 connection gets the public port of the owner of its route", async () => {
    gateway.update({ ...plan, resources: gateways(["a/gw"]) });
    const session = connectHttp2(`https://127.0.0.1:${gateway.tlsPort}`, { rejectUnauthorized: false });
    try {
      for (const [authority, port] of [
        ["a.example", "8443"],
        ["gw.example", "443"],
        ["a.example", "8443"],
      ]) {
        const stream = session.request({ ":authority": authority });
        let text = "";
        for await (const chunk of stream) text += String(chunk);
        expect(text).to.equal(port);
      }
    } finally {
      session.destroy();
    }
  });

  it("redirects have the public port of the route's owner, unless it is the default port of the scheme", async () => {
    const features: RouteFeatures = { redirect: { hostname: "new.example", statusCode: 302 } };
    gateway.update({ ...plan, features, resources: gateways(["a/gw"], features) });
    expect((await ask("http", "a.example")).location).to.equal("http://new.example:8000/");
    expect((await ask("https", "a.example")).location).to.equal("https://new.example:8443/");
    expect((await ask("http", "gw.example")).location).to.equal("http://new.example/");
    expect((await ask("https", "gw.example")).location).to.equal("https://new.example/");
  });

  it("the public port follows its listener, and stays when others are added and removed", async () => {
    gateway.update(plan);
    expect((await ask("http", "a.example")).port).to.equal("8000");
    gateway.update({ ...plan, resources: gateways(["a/gw"]) });
    expect((await ask("http", "a.example")).port).to.equal("8000");
    gateway.update({ ...plan, publicPorts: { http: 8001, https: 8443 }, resources: gateways(["a/gw"]) });
    expect((await ask("http", "a.example")).port).to.equal("8001");
    expect((await ask("http", "gw.example")).port).to.equal("80");
    gateway.update(plan);
    expect((await ask("http", "a.example")).port).to.equal("8000");
  });
});

describe("the port that clients see, behind a load balancer with the PROXY protocol", () => {
  it("the public port behind the PROXY protocol is that of the listener, not of the header", async () => {
    const upstream = await startHttp((request, response) => {
      response.end(String(request.headers["x-forwarded-port"]));
    });
    const gateway = await startGateway({ ports: [upstream.port], publicPorts }, [
      "--proxy-accept-proxy-protocol",
    ]);
    try {
      const request = httpRequest({
        host: "127.0.0.1",
        port: gateway.port,
        headers: { host: "a.example" },
        agent: false,
      });
      request.on("socket", (socket) => {
        socket.write("PROXY TCP4 192.0.2.1 192.0.2.9 1000 9999\r\n");
      });
      request.end();
      const [message] = (await once(request, "response")) as [IncomingMessage];
      let text = "";
      for await (const chunk of message) text += String(chunk);
      expect(text).to.equal("8000");
    } finally {
      await gateway.close();
      await upstream.close();
    }
  });
});
