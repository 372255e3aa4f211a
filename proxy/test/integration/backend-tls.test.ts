import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, request as httpsRequest, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import type { BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import { backendCertificateKey, backendTlsKey, endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { expect } from "chai";
import { issueCertificate } from "../tls/certificates.ts";
import { authority, backend, otherAuthority } from "../upstream/tls/support.ts";
import { httpCheck } from "./ext-auth-support.ts";
import { eventually, routeId, startGateway, startHttp, type Gateway, type Plan } from "./gateway.ts";

const policyOf = (policy: Partial<BackendTls> = {}): Resource =>
  encodeResource<"backendtls">(backendTlsKey("ns/strict"), {
    hostname: "backend.test",
    authorities: authority.leafPem,
    ...policy,
  });

describe("backends with TLS, through the whole data plane", () => {
  let gateway: Gateway;
  let port: number;
  let seen: IncomingMessage[];
  let held: ServerResponse[];
  let stop: (() => Promise<void>)[];

  beforeEach(() => {
    seen = [];
    held = [];
    stop = [];
  });
  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
  });

  /** Requests for `/held` are not answered. */
  async function serve(plan: Partial<Plan> = {}, options: ServerOptions = {}): Promise<void> {
    const server = createServer(
      { cert: backend.chainPem, key: backend.keyPem, ...options },
      (request, response) => {
        seen.push(request);
        if (request.url === "/held") held.push(response);
        else response.end("upstream");
      },
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
    stop.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    gateway = await startGateway({
      ports: [port],
      backendTls: "ns/strict",
      resources: [policyOf()],
      ...plan,
    });
    const started = gateway;
    stop.push(() => started.close());
  }

  async function get(path = "/"): Promise<number> {
    const request = httpRequest({
      host: "127.0.0.1",
      port: gateway.port,
      path,
      headers: { host: "a.example" },
      agent: false,
    });
    request.end();
    const [message] = (await once(request, "response")) as [IncomingMessage];
    message.resume();
    await once(message, "end");
    return message.statusCode ?? 0;
  }

  async function getOverTls(path: string): Promise<number> {
    const over = httpsRequest({
      host: "127.0.0.1",
      port: gateway.tlsPort,
      path,
      headers: { host: "a.example" },
      servername: "a.example",
      rejectUnauthorized: false,
      agent: false,
    });
    over.end();
    const [answer] = (await once(over, "response")) as [IncomingMessage];
    answer.resume();
    await once(answer, "end");
    return answer.statusCode ?? 0;
  }

  const tlsErrors = (): number =>
    gateway.metrics.upstreamErrors.with({
      listener: "80",
      route: routeId,
      upstream: "ns/web",
      error_type: "tls",
    }).value;

  it("a backend with TLS gets requests and their mirrored copies", async () => {
    await serve({
      features: { "mirror-target": [{ service: "ns/web", endpoints: "ns/web/80", protocol: "http1" }] },
    });
    expect(await get()).to.equal(200);
    await eventually(() => seen.length === 2);
    expect(seen.map(({ socket }) => (socket as TLSSocket).servername)).to.deep.equal([
      "backend.test",
      "backend.test",
    ]);
  });

  it("the certificate of the Gateway is shown to backends, and requests get 502 while it is missing", async () => {
    const certificate = issueCertificate(["gateway.test"], { issuer: authority });
    const shown = encodeResource<"backendcert">(backendCertificateKey("ns/edge"), { certificate });
    const plan = { backendCertificate: "ns/edge", resources: [policyOf(), shown] };
    await serve(plan, { requestCert: true, rejectUnauthorized: true, ca: [authority.leafPem] });
    expect(await get()).to.equal(200);
    expect((seen[0]?.socket as TLSSocket | undefined)?.getPeerCertificate().subject.CN).to.equal(
      "gateway.test",
    );
    gateway.update({ ...gateway.plan, resources: [policyOf()] });
    expect(await get()).to.equal(502);
    expect([seen.length, tlsErrors()]).to.deep.equal([1, 1]);
  });

  it("an authorization service is reached over TLS in the same way, and requests get 503 when it is not trusted", async () => {
    const certificate = issueCertificate(["gateway.test"], { issuer: authority });
    const shown = encodeResource<"backendcert">(backendCertificateKey("ns/edge"), { certificate });
    const check = { ...httpCheck, endpoints: "ns/web/80" };
    await serve(
      {
        features: { "ext-auth": [{ check }] },
        backendCertificate: "ns/edge",
        resources: [policyOf(), shown],
      },
      { requestCert: true, rejectUnauthorized: true, ca: [authority.leafPem] },
    );
    expect(await get()).to.equal(200);
    expect(seen.map(({ headers }) => headers["x-forwarded-method"])).to.deep.equal(["GET", undefined]);
    for (const socket of seen.map((request) => request.socket as TLSSocket)) {
      expect([socket.servername, socket.getPeerCertificate().subject.CN]).to.deep.equal([
        "backend.test",
        "gateway.test",
      ]);
    }
    gateway.update({
      ...gateway.plan,
      resources: [policyOf({ authorities: otherAuthority.leafPem }), shown],
    });
    expect(await get()).to.equal(503);
    gateway.update({ ...gateway.plan, resources: [policyOf()] });
    expect(await get()).to.equal(503);
    expect(seen).to.have.lengthOf(2);
    await eventually(() => gateway.records.length === 3);
    expect(gateway.records[2]).to.include({ status: 503, error: "authorization service failed" });
  });

  it("a backend whose certificate is not trusted is answered 502, with the reason in the access log", async () => {
    await serve({ resources: [policyOf({ authorities: otherAuthority.leafPem })] });
    expect(await get()).to.equal(502);
    expect([seen.length, tlsErrors()]).to.deep.equal([0, 1]);
    await eventually(() => gateway.records.length > 0);
    expect(gateway.records[0]).to.include({ status: 502, error: "upstream certificate not trusted" });
  });

  it("a change of the policy lets requests under way finish, and later ones use new connections", async () => {
    await serve();
    const first = get("/held");
    await eventually(() => held.length === 1);
    gateway.update({ ...gateway.plan, resources: [policyOf({ authorities: otherAuthority.leafPem })] });
    expect(await get()).to.equal(502);
    gateway.update({ ...gateway.plan, resources: [policyOf()] });
    expect(await get()).to.equal(200);
    held[0]?.end("late");
    expect(await first).to.equal(200);
    expect(new Set(seen.map(({ socket }) => socket)).size).to.equal(2);
  });

  describe("for one endpoint under several settings", () => {
    const own = (name: string, tls: Partial<BackendTls>): readonly Resource[] => [
      encodeResource<"backendtls">(backendTlsKey(name), { hostname: "", ...tls }),
      encodeResource<"endpoints">(endpointsKey(`ns/web/443/${name}`), {
        service: "ns/web",
        resolve: "static",
        addresses: [{ host: "127.0.0.1", port }],
        tls: name,
      }),
    ];
    const routeTo = (path: string, endpoints: string): Route => ({
      id: `ingress/ns/web:${path}`,
      source: { kind: "Ingress", namespace: "ns", name: "web" },
      match: { path: { type: "prefix", value: path } },
      backends: [{ weight: 1, service: "ns/web", endpoints, protocol: "http1" }],
    });

    it("a route that verifies its backend never uses a connection of one that does not", async () => {
      // The proxy reuses a connection while it has been idle for less than the server announces, by default 5 s.
      await serve({}, { keepAliveTimeout: 600_000 });
      const resources = [
        policyOf(),
        ...own("loose", { unverified: true }),
        ...own("strict", { hostname: "other.test", authorities: authority.leafPem }),
      ];
      const before = [routeTo("/loose", "ns/web/443/loose"), routeTo("/strict", "ns/web/443/strict")];
      gateway.update({ ...gateway.plan, resources, before });
      expect([await get("/loose"), await get("/strict"), await get("/loose")]).to.deep.equal([200, 502, 200]);
      expect(seen.map(({ url }) => url)).to.deep.equal(["/loose", "/loose"]);
      const [first, second] = seen;
      expect(first?.socket).to.equal(second?.socket);
      expect(gateway.records[1]?.error).to.equal("upstream certificate has another name");
    });
  });

  it("a request that came over TLS goes to the endpoints that the backend has for it", async () => {
    await serve({ certificate: issueCertificate(["a.example"]) });
    const plain = await startHttp((request, response) => {
      seen.push(request);
      response.end("plain");
    });
    stop.push(() => plain.close());
    const set = encodeResource<"endpoints">(endpointsKey("ns/web/80/plain"), {
      service: "ns/web",
      resolve: "static",
      addresses: [{ host: "127.0.0.1", port: plain.port }],
    });
    const own = { endpoints: "ns/web/80/plain", secureEndpoints: "ns/web/80" };
    gateway.update({ ...gateway.plan, resources: [policyOf(), set], backend: own });
    expect(await get("/http")).to.equal(200);
    expect(await getOverTls("/https")).to.equal(200);
    expect(seen.map(({ url, socket }) => [url, "encrypted" in socket])).to.deep.equal([
      ["/http", false],
      ["/https", true],
    ]);
  });

  it("a set whose TLS follows the client gets requests without TLS in cleartext, and no others", async () => {
    await serve({ certificate: issueCertificate(["a.example"]) });
    const plain = await startHttp((request, response) => {
      seen.push(request);
      response.end("plain");
    });
    stop.push(() => plain.close());
    gateway.update({ ...gateway.plan, ports: [plain.port], set: { tlsFollowsClient: true } });
    expect(await get("/http")).to.equal(200);
    expect(await getOverTls("/refused"), "the port does not speak TLS").to.equal(502);
    gateway.update({ ...gateway.plan, ports: [port] });
    expect(await getOverTls("/https")).to.equal(200);
    gateway.update({ ...gateway.plan, set: {} });
    expect(await get("/again")).to.equal(200);
    expect(seen.map(({ url, socket }) => [url, "encrypted" in socket])).to.deep.equal([
      ["/http", false],
      ["/https", true],
      ["/again", true],
    ]);
  });

  it("a backend that closes gets each request over a connection of its own", async () => {
    await serve();
    gateway.update({ ...gateway.plan, backend: { closes: true } });
    expect([await get("/1"), await get("/2")]).to.deep.equal([200, 200]);
    const [first, second] = seen;
    expect([first?.headers.connection, second?.headers.connection]).to.deep.equal(["close", "close"]);
    expect(first?.socket).to.not.equal(second?.socket);
  });
});
