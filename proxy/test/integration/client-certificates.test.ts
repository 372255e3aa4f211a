import { expect } from "chai";
import { createServer, get, type IncomingHttpHeaders, type Server } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request } from "node:https";
import { type AddressInfo, connect as connectPlain } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { ClientCertPort, ClientRules } from "@svc-gateway/common/ir/client-certificate.ts";
import { issueCertificate, type Issued } from "../tls/certificates.ts";
import { tlsPort } from "../tls/harness.ts";
import { eventually, routeId, startGateway, type Gateway, type Plan } from "./gateway.ts";

const server = issueCertificate(["m.example", "open.example", "other.example"]);
const root = issueCertificate(["root"], { ca: true });
const otherRoot = issueCertificate(["other root"], { ca: true });
const alice = issueCertificate(["alice"], { issuer: root });

const clientCerts = (forward: boolean, authorities = "root"): ClientCertPort => ({
  authorities: { root: root.leafPem, other: otherRoot.leafPem },
  hosts: [
    {
      bucket: "exact",
      host: "m.example",
      mode: "require",
      authorities,
      maxIntermediates: 0,
      forward,
      owner: "ingress/ns/m",
    },
    {
      bucket: "exact",
      host: "other.example",
      mode: "require",
      authorities: "other",
      maxIntermediates: 0,
      forward,
      owner: "ingress/ns/other",
    },
  ],
});

const rules = (owner: string, authorities: string): ClientRules => ({
  owner: `ingress/ns/${owner}`,
  authorities,
  maxIntermediates: 0,
});

/** The client rules of the hosts, equal to those of their handshakes. */
const clients = (forward: boolean): NonNullable<Plan["clients"]> => ({
  hosts: {
    "m.example": { ...rules("m", "root"), ...(forward && { forward }) },
    "other.example": { ...rules("other", "other"), ...(forward && { forward }) },
  },
});

describe("requests to hosts with client certificates", () => {
  let backend: Server;
  let seen: IncomingHttpHeaders[];
  let gateway: Gateway;
  let plan: Plan;

  beforeEach(async () => {
    seen = [];
    backend = createServer((incoming, response) => {
      seen.push(incoming.headers);
      response.end("answered");
    });
    await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
    plan = {
      ports: [(backend.address() as AddressInfo).port],
      hosts: ["m.example", "open.example", "other.example"],
      certificates: tlsPort(
        ["exact", "m.example", [server]],
        ["exact", "open.example", [server]],
        ["exact", "other.example", [server]],
      ),
      clientCerts: clientCerts(true),
      clients: clients(true),
    };
    gateway = await startGateway(plan);
  });

  afterEach(async () => {
    await gateway.close();
    backend.closeAllConnections();
    await new Promise((resolve) => backend.close(resolve));
  });

  type Ask = {
    readonly sni: string;
    readonly host: string;
    readonly identity?: Issued;
    readonly headers?: Record<string, string>;
    /** The agent that provides the connection; if absent, the request has its own connection. */
    readonly agent?: Agent;
  };

  const ask = ({ sni, host, identity, headers = {}, agent }: Ask): Promise<number> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: "127.0.0.1",
          port: gateway.tlsPort,
          servername: sni,
          rejectUnauthorized: false,
          agent: agent ?? false,
          headers: { host, ...headers },
          ...(identity === undefined ? {} : { cert: identity.chainPem, key: identity.keyPem }),
        },
        (response) => {
          response.resume();
          response.on("end", () => resolve(response.statusCode ?? 0));
        },
      );
      outgoing.on("error", reject);
      outgoing.end();
    });

  it("a client with a certificate is served, and the upstream gets the certificate", async () => {
    expect(await ask({ sni: "m.example", host: "m.example", identity: alice })).to.equal(200);
    const encoded = String(seen[0]?.["x-ssl-client-cert"]);
    expect(encoded).to.match(/^(?:[A-Za-z0-9]|%[0-9A-F]{2})+$/);
    expect(decodeURIComponent(encoded).replaceAll(/\s/g, "")).to.equal(alice.leafPem.replaceAll(/\s/g, ""));
  });

  it("connections that are accepted before the first client rules of their port are asked for certificates in their handshakes", async () => {
    const { clientCerts: _, clients: __, ...without } = plan;
    gateway.update(without);
    const accepted = (): number => gateway.metrics.connectionsActive.with({ listener: "443" }).value;
    const before = accepted();
    const plain = [connectPlain(gateway.tlsPort, "127.0.0.1"), connectPlain(gateway.tlsPort, "127.0.0.1")];
    await eventually(() => accepted() === before + 2);
    gateway.update(plan);
    const [shown, hidden] = plain.map((socket, index) =>
      connect({
        ...{ socket, servername: "m.example", rejectUnauthorized: false },
        ...(index === 0 && { cert: alice.chainPem, key: alice.keyPem }),
      }),
    ) as [TLSSocket, TLSSocket];
    const closed = Promise.all(
      [shown, hidden].map((socket) => new Promise((done) => socket.on("close", done))),
    );
    hidden.on("error", () => {});
    for (const socket of [shown, hidden])
      socket.write("GET / HTTP/1.1\r\nHost: m.example\r\nConnection: close\r\n\r\n");
    let text = "";
    shown.on("data", (bytes: Buffer) => (text += bytes.toString()));
    await closed;
    expect(text).to.match(/^HTTP\/1\.1 200 /);
    expect(seen.map((headers) => "x-ssl-client-cert" in headers)).to.deep.equal([true]);
    await eventually(() => accepted() === before);
  });

  it("a client's own X-SSL-Client-Cert is never passed on, in any spelling", async () => {
    const forged = { "X-SSL-Client-Cert": "forged", X_SSL_Client_Cert: "forged" };
    expect(await ask({ sni: "m.example", host: "m.example", identity: alice, headers: forged })).to.equal(
      200,
    );
    expect(await ask({ sni: "open.example", host: "open.example", headers: forged })).to.equal(200);
    expect(JSON.stringify(seen)).not.to.contain("forged");
    expect(seen[1]?.["x-ssl-client-cert"]).to.equal(undefined);
  });

  it("the upstream gets no certificate where the host does not forward it", async () => {
    gateway.update({ ...plan, clientCerts: clientCerts(false), clients: clients(false) });
    expect(await ask({ sni: "m.example", host: "m.example", identity: alice })).to.equal(200);
    expect(seen[0]?.["x-ssl-client-cert"]).to.equal(undefined);
  });

  it("the upstream gets no certificate on an open connection once the host stops forwarding it", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const asked = { sni: "m.example", host: "m.example", identity: alice, agent };
    expect(await ask(asked)).to.equal(200);
    gateway.update({ ...plan, clientCerts: clientCerts(false), clients: clients(false) });
    expect(await ask(asked)).to.equal(200);
    expect(seen.map((headers) => "x-ssl-client-cert" in headers)).to.deep.equal([true, false]);
    agent.destroy();
  });

  it("a request for a host with client certificates gets 421 over a connection for another host", async () => {
    expect(await ask({ sni: "open.example", host: "m.example" })).to.equal(421);
    expect(await ask({ sni: "open.example", host: "M.example:443", identity: alice })).to.equal(421);
    expect(await ask({ sni: "m.example", host: "other.example", identity: alice })).to.equal(421);
    expect(await ask({ sni: "m.example", host: "open.example", identity: alice })).to.equal(200);
    expect(seen).to.have.length(1);
    expect(seen[0]).not.to.have.property("x-ssl-client-cert");
    expect(gateway.records.filter(({ status }) => status === 421)).to.have.length(3);
  });

  it("a request for a host with client certificates gets 421 on an HTTP/2 connection that is shared between hosts", async () => {
    const session = connectHttp2("https://open.example", {
      createConnection: () =>
        connect({
          host: "127.0.0.1",
          port: gateway.tlsPort,
          servername: "open.example",
          ALPNProtocols: ["h2"],
          rejectUnauthorized: false,
        }),
    });
    const statusOf = (authority: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ":authority": authority, ":path": "/" });
        stream.on("response", (headers) => resolve(Number(headers[":status"])));
        stream.on("error", reject);
        stream.resume();
      });
    expect(await statusOf("open.example")).to.equal(200);
    expect(await statusOf("m.example")).to.equal(421);
    expect(await statusOf("open.example")).to.equal(200);
    session.destroy();
  });

  it("a request for a host with client certificates gets 421 on a connection without a server name", async () => {
    const { certificates: _, ...others } = plan;
    gateway.update({ ...others, certificate: server });
    expect(await ask({ sni: "", host: "m.example" })).to.equal(421);
    expect(await ask({ sni: "", host: "open.example" })).to.equal(200);
  });

  it("a request for a route with client rules of its own gets 421 unless these or equal rules were checked", async () => {
    const open = { ...plan, clients: { route: rules("m", "root") } };
    gateway.update(open);
    expect(await ask({ sni: "open.example", host: "open.example" })).to.equal(421);
    expect(await ask({ sni: "m.example", host: "m.example", identity: alice })).to.equal(200);
    gateway.update({ ...open, clients: { route: rules("someone", "root") } });
    expect(await ask({ sni: "m.example", host: "m.example", identity: alice })).to.equal(200);
    gateway.update({ ...open, clients: { route: { ...rules("someone", "root"), maxIntermediates: 1 } } });
    expect(await ask({ sni: "m.example", host: "m.example", identity: alice })).to.equal(421);
    expect(seen).to.have.length(2);
  });

  it("the record of a request that gets 421 from its route names the route and the client behind a trusted proxy", async () => {
    const trusting = { "trust-forwarded-for": { trustedCidrs: ["127.0.0.1/32"], header: "X-Forwarded-For" } };
    const refusing = { ...plan, clients: { route: rules("m", "root") }, features: trusting };
    gateway.update(refusing);
    const asked = {
      sni: "open.example",
      host: "open.example",
      headers: { "X-Forwarded-For": "203.0.113.5" },
    };
    expect(await ask(asked)).to.equal(421);
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]).to.include({ status: 421, routeId, clientIp: "203.0.113.5" });
    gateway.update({ ...refusing, accessLog: false });
    expect(await ask(asked)).to.equal(421);
    gateway.update(refusing);
    expect(await ask(asked)).to.equal(421);
    await eventually(() => gateway.records.length > 1);
    expect(gateway.records).to.have.length(2);
  });

  it("an open connection is served while its owner still has rules, and gets 421 under another owner or without authorities", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const asked = { sni: "m.example", host: "m.example", identity: alice, agent };
    expect(await ask(asked)).to.equal(200);
    gateway.update({
      ...plan,
      clientCerts: clientCerts(true, "other"),
      clients: { hosts: { "m.example": rules("m", "other") } },
    });
    expect(await ask(asked)).to.equal(200);
    gateway.update({ ...plan, clients: { hosts: { "m.example": rules("new owner", "other") } } });
    expect(await ask(asked)).to.equal(421);
    gateway.update({ ...plan, clients: { hosts: { "m.example": { owner: "ingress/ns/m" } } } });
    expect(await ask(asked)).to.equal(421);
    agent.destroy();
  });

  it("plain HTTP to a host with client certificates is served as before", async () => {
    const response = await new Promise<number>((resolve, reject) => {
      get({ host: "127.0.0.1", port: gateway.port, headers: { host: "m.example" } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      }).on("error", reject);
    });
    expect(response).to.equal(200);
    expect(seen[0]?.["x-ssl-client-cert"]).to.equal(undefined);
  });

  it("an open connection gets 421 as soon as its host demands a certificate", async () => {
    const { clientCerts: _, clients: __, ...open } = plan;
    gateway.update(open);
    const session = connectHttp2("https://m.example", {
      createConnection: () =>
        connect({
          host: "127.0.0.1",
          port: gateway.tlsPort,
          servername: "m.example",
          ALPNProtocols: ["h2"],
          rejectUnauthorized: false,
        }),
    });
    const status = (): Promise<number> =>
      new Promise((resolve) => {
        const stream = session.request({ ":authority": "m.example" });
        stream.on("response", (headers) => resolve(Number(headers[":status"])));
        stream.resume();
      });
    expect(await status()).to.equal(200);
    gateway.update(plan);
    expect(await status()).to.equal(421);
    session.destroy();
  });
});
