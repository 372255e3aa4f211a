import { createServer, request as requestPlain, type IncomingMessage, type Server } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { ClientRules, RequestVerdict } from "@svc-gateway/common/ir/client-certificate.ts";
import { issueCertificate, type Issued } from "../tls/certificates.ts";
import { tlsPort } from "../tls/harness.ts";
import { startGateway, type Gateway } from "./gateway.ts";

const server = issueCertificate(["m.example", "open.example"]);
const root = issueCertificate(["root"], { ca: true });
const middle = issueCertificate(["middle"], { ca: true, issuer: root });
const alice = issueCertificate(["alice"], { issuer: root });
const bob = issueCertificate(["bob"], { issuer: middle });
const stranger = issueCertificate(["alice"]);

type Answer = IncomingMessage & { readonly text: string };

describe("clients about whom requests decide", () => {
  let backend: Server;
  let seen: IncomingMessage[];
  let gateway: Gateway | undefined;

  beforeEach(async () => {
    [seen, gateway] = [[], undefined];
    backend = createServer((incoming, response) => {
      seen.push(incoming);
      response.end("answered");
    });
    await new Promise<void>((resolve) => backend.listen(0, "127.0.0.1", resolve));
  });
  afterEach(async () => {
    await gateway?.close();
    backend.closeAllConnections();
    backend.close();
  });

  async function start(
    byRequest: RequestVerdict,
    {
      authorities = "root",
      depth = 1,
      forward = false,
      ofRoute = false,
      sendsFields = true,
    }: {
      authorities?: string | undefined;
      depth?: number;
      forward?: boolean;
      ofRoute?: boolean;
      /** Whether the route has the fields of ingress-nginx. */
      sendsFields?: boolean;
    } = {},
  ): Promise<void> {
    const rules: ClientRules = {
      owner: "ingress/ns/m",
      ...(authorities !== "" && { authorities }),
      maxIntermediates: depth,
      byRequest,
      ...(forward && { forward: true as const }),
    };
    gateway = await startGateway({
      ports: [(backend.address() as AddressInfo).port],
      hosts: ["m.example", "open.example"],
      features: sendsFields ? { "forwarding-fields": { clientCertificate: true } } : {},
      certificates: tlsPort(["exact", "m.example", [server]], ["exact", "open.example", [server]]),
      clientCerts: {
        authorities: { root: root.leafPem },
        hosts: [
          {
            bucket: "exact",
            host: "m.example",
            mode: "optional",
            deferred: true,
            ...(authorities !== "" && { authorities }),
            maxIntermediates: depth,
            forward,
            owner: "ingress/ns/m",
          },
        ],
      },
      clients: { hosts: { "m.example": rules }, ...(ofRoute && { route: rules }) },
    });
  }

  const ask = (
    identity?: Issued,
    {
      host = "m.example",
      sni = host,
      path = "/",
      headers = {},
    }: { host?: string; sni?: string; path?: string; headers?: Record<string, string> } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          host: "127.0.0.1",
          port: gateway?.tlsPort,
          servername: sni,
          rejectUnauthorized: false,
          agent: false,
          path,
          headers: { host, ...headers },
          ...(identity && { cert: identity.chainPem, key: identity.keyPem }),
        },
        (message) => void read(message).then(resolve),
      );
      sent.on("error", reject).end();
    });

  const askPlain = (): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = requestPlain(
        { host: "127.0.0.1", port: gateway?.port, agent: false, headers: { host: "m.example" } },
        (message) => void read(message).then(resolve),
      );
      sent.on("error", reject).end();
    });

  async function read(message: IncomingMessage): Promise<Answer> {
    let text = "";
    for await (const chunk of message) text += String(chunk);
    return Object.assign(message, { text });
  }

  it("a host with mode on answers 400 inside TLS without a valid certificate, with the reason", async () => {
    await start({ mode: "on" });
    const none = await ask();
    expect([none.statusCode, none.text]).to.deep.equal([
      400,
      "400 Bad Request\nNo required SSL certificate was sent\n",
    ]);
    const bad = await ask(stranger);
    expect([bad.statusCode, bad.text]).to.deep.equal([400, "400 Bad Request\nThe SSL certificate error\n"]);
    expect(seen).to.deep.equal([]);
    expect((await ask(alice)).statusCode).to.equal(200);
  });

  it("a certificate behind as many intermediate authorities as the depth is accepted, and behind more it is not", async () => {
    await start({ mode: "on" }, { depth: 1 });
    expect((await ask({ ...bob, chainPem: bob.leafPem + middle.leafPem })).statusCode).to.equal(200);
    await gateway?.close();
    await start({ mode: "on" }, { depth: 0 });
    expect((await ask({ ...bob, chainPem: bob.leafPem + middle.leafPem })).statusCode).to.equal(400);
  });

  it("the backend gets the four fields of the verification, and never those of the client", async () => {
    await start({ mode: "optional" }, { forward: true });
    const spoofed = {
      "ssl-client-verify": "SUCCESS",
      "ssl-client-cert": "x",
      ssl_client_subject_dn: "CN=root",
    };
    expect((await ask(alice, { headers: spoofed })).statusCode).to.equal(200);
    expect(seen[0]?.headers).to.include({
      "ssl-client-verify": "SUCCESS",
      "ssl-client-subject-dn": "CN=alice",
      "ssl-client-issuer-dn": "CN=root",
    });
    expect(decodeURIComponent(String(seen[0]?.headers["ssl-client-cert"]))).to.equal(alice.leafPem);
    expect((await ask(undefined, { headers: spoofed })).statusCode).to.equal(200);
    expect(seen[1]?.headers["ssl-client-verify"]).to.equal("NONE");
    expect(seen[1]?.headers).not.to.have.any.keys(
      "ssl-client-cert",
      "ssl-client-subject-dn",
      "ssl_client_subject_dn",
    );
    expect((await ask(undefined, { host: "open.example", headers: spoofed })).statusCode).to.equal(200);
    expect(Object.keys(seen[2]?.headers ?? {}).filter((name) => name.startsWith("ssl"))).to.deep.equal([]);
  });

  it("a forwarded certificate is in X-SSL-Client-Cert where the route has not the four fields, and only a valid one", async () => {
    await start({ mode: "optional_no_ca" }, { forward: true, sendsFields: false });
    const certificates: (string | string[] | undefined)[] = [];
    for (const client of [alice, stranger, undefined]) {
      expect((await ask(client, { headers: { "x-ssl-client-cert": "x" } })).statusCode).to.equal(200);
      certificates.push(seen.at(-1)?.headers["x-ssl-client-cert"]);
    }
    expect(decodeURIComponent(String(certificates[0]))).to.equal(alice.leafPem);
    expect(certificates.slice(1)).to.deep.equal([undefined, undefined]);
    await gateway?.close();
    await start({ mode: "on" }, { forward: true });
    expect((await ask(alice)).statusCode).to.equal(200);
    expect(seen.at(-1)?.headers).to.include.keys("ssl-client-cert");
    expect(seen.at(-1)?.headers).not.to.include.keys("x-ssl-client-cert");
  });

  it("an optional certificate must be valid, and with optional_no_ca it need not be", async () => {
    await start({ mode: "optional" });
    expect((await ask(stranger)).statusCode).to.equal(400);
    await gateway?.close();
    await start({ mode: "optional_no_ca" });
    expect((await ask(stranger)).statusCode).to.equal(200);
    expect(seen.at(-1)?.headers["ssl-client-verify"]).to.match(/^FAILED:/);
  });

  it("a subject that does not match is 403, also without a certificate where none is needed", async () => {
    await start({ mode: "optional", subject: "CN=(bob|carol)$" });
    expect((await ask(alice)).statusCode).to.equal(403);
    expect((await ask()).statusCode).to.equal(403);
    await gateway?.close();
    await start({ mode: "on", subject: "CN=al" });
    expect((await ask(alice)).statusCode).to.equal(200);
  });

  it("an error page is a redirect to a URL, or a path of the host that is served in place of the answer", async () => {
    await start({ mode: "on", errorPage: "https://help.example/cert" });
    const away = await ask();
    expect([away.statusCode, away.headers.location]).to.deep.equal([302, "https://help.example/cert"]);
    await gateway?.close();
    await start({ mode: "on", errorPage: "/help?x=1" });
    expect((await ask(undefined, { path: "/secret" })).statusCode).to.equal(200);
    expect(seen.map(({ url }) => url)).to.deep.equal(["/help?x=1"]);
  });

  it("a host whose authorities are missing is 403, with and without TLS", async () => {
    await start({ mode: "optional_no_ca" }, { authorities: "", ofRoute: true });
    expect((await ask(alice)).statusCode).to.equal(403);
    expect((await ask()).statusCode).to.equal(403);
    expect((await askPlain()).statusCode).to.equal(403);
    expect(seen).to.deep.equal([]);
  });

  it("a connection without TLS, or one that was made for another host, does not get around the certificate", async () => {
    await start({ mode: "on" }, { ofRoute: true });
    expect((await askPlain()).statusCode).to.equal(403);
    expect((await ask(undefined, { sni: "open.example", host: "m.example" })).statusCode).to.equal(421);
    expect((await ask(alice, { sni: "open.example", host: "m.example" })).statusCode).to.equal(421);
    expect(seen).to.deep.equal([]);
  });
});
