import type { TlsOptions } from "node:tls";
import type { BackendCertificate, BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import { expect } from "chai";
import { createHttp1UpstreamClient } from "../../../src/upstream/h1/client.ts";
import { readEnd } from "../../end-reader.ts";
import { describeHttp2Codecs } from "../../http2-codecs.ts";
import { createHttp2UpstreamClient } from "../../../src/upstream/h2/client.ts";
import type { UpstreamClient, UpstreamEndpoint, UpstreamRequest } from "../../../src/upstream/upstream.ts";
import { issueCertificate, type Issued } from "../../tls/certificates.ts";
import { sServer } from "../../tls/openssl.ts";
import { startBackend } from "../h2/support.ts";
import { clientOptions, getRequest, RawServer, Recorder, until } from "../support.ts";
import { authority, backend, endpointWith, startTlsBackend, otherAuthority } from "./support.ts";

async function send(
  client: UpstreamClient,
  endpoint: UpstreamEndpoint,
  request: Partial<UpstreamRequest> = {},
): Promise<Recorder> {
  const recorder = new Recorder();
  client.send(endpoint, getRequest(request), recorder);
  await recorder.done;
  return recorder;
}

/** The text of the response, or what went wrong. */
const outcomeOf = ({ error, text, head }: Recorder): string =>
  error === undefined ? `${head?.status} ${text}` : `${error.kind}: ${error.text}`;

const untrusted = "tls: upstream certificate not trusted";
const otherName = "tls: upstream certificate has another name";
const noHandshake = "tls: upstream TLS handshake failed";

describe("HTTP/1.1 over TLS", () => {
  const client = createHttp1UpstreamClient(clientOptions());
  after(() => client.close());

  /** One request to a backend with this certificate, under this policy. */
  async function outcome(
    certificate: Issued,
    policy: Partial<BackendTls> = {},
    options: TlsOptions & { readonly client?: BackendCertificate } = {},
  ): Promise<string> {
    const { client: shown, ...own } = options;
    const server = await startTlsBackend(certificate, own);
    const recorder = await send(client, endpointWith(server.port, policy, shown));
    // An untrusted backend must not see a byte of the request.
    if (recorder.error !== undefined && !recorder.error.requestSent) expect(server.received).to.equal("");
    server.close();
    return outcomeOf(recorder);
  }

  it("HTTP/1.1 over TLS sends the hostname as SNI and http/1.1 by ALPN", async () => {
    const server = await startTlsBackend();
    expect(outcomeOf(await send(client, endpointWith(server.port)))).to.equal("200 ok");
    expect([server.secure[0]?.servername, server.secure[0]?.alpnProtocol]).to.deep.equal([
      "backend.test",
      "http/1.1",
    ]);
    server.close();
  });

  it("a backend without ALPN is accepted for HTTP/1.1", async () => {
    const plain = { ALPNProtocols: [] };
    expect(await outcome(backend, {}, plain)).to.equal("200 ok");
  });

  it("a TLS connection is reused only for the endpoint that it was opened for", async () => {
    const server = await startTlsBackend();
    const endpoint = endpointWith(server.port);
    expect((await send(client, endpoint)).reused).to.deep.equal([false]);
    expect((await send(client, endpoint)).reused).to.deep.equal([true]);
    expect((await send(client, endpointWith(server.port))).reused).to.deep.equal([false]);
    expect(server.secure.length).to.equal(2);
    server.close();
  });

  it("a backend certificate of another authority is rejected", async () => {
    const foreign = issueCertificate(["backend.test"], { issuer: otherAuthority });
    expect(await outcome(foreign)).to.equal(untrusted);
    expect(await outcome(issueCertificate(["backend.test"]))).to.equal(untrusted);
    expect(await outcome(backend, { authorities: "system" })).to.equal(untrusted);
  });

  it("an expired backend certificate is rejected", async () => {
    const old = issueCertificate(["backend.test"], { issuer: authority, notAfterMs: Date.UTC(2021, 0, 1) });
    expect(await outcome(old)).to.equal("tls: upstream certificate out of date");
  });

  it("every certificate of an authority bundle is a trust anchor", async () => {
    const middle = issueCertificate(["Middle"], { issuer: authority, ca: true });
    const leaf = issueCertificate(["backend.test"], { issuer: middle });
    const self = issueCertificate(["backend.test"]);
    expect(await outcome(leaf, { authorities: otherAuthority.leafPem + middle.leafPem })).to.equal("200 ok");
    expect(await outcome(self, { authorities: self.leafPem })).to.equal("200 ok");
  });

  describe("without verification", () => {
    const unverified = { authorities: undefined, unverified: true, hostname: "" } as const;

    it("any certificate is accepted without verification, and no server name is sent", async () => {
      const old = issueCertificate(["other.test"], { notAfterMs: Date.UTC(2021, 0, 1) });
      expect(await outcome(old, unverified)).to.equal("200 ok");
      const server = await startTlsBackend(old);
      expect(outcomeOf(await send(client, endpointWith(server.port, unverified)))).to.equal("200 ok");
      expect(server.secure[0]?.servername).to.equal(false);
      server.close();
    });

    it("a server name is sent without verification where the settings say so", async () => {
      const server = await startTlsBackend(issueCertificate(["other.test"]));
      await send(client, endpointWith(server.port, { ...unverified, hostname: "sent.test" }));
      expect(server.secure[0]?.servername).to.equal("sent.test");
      server.close();
    });

    it("the certificate of the settings is shown to a backend that is not verified", async () => {
      const certificate = issueCertificate(["client"], { issuer: otherAuthority });
      const asks = { requestCert: true, ca: otherAuthority.leafPem };
      expect(await outcome(backend, { ...unverified, certificate }, asks)).to.equal("200 ok");
      expect(await outcome(backend, unverified, asks)).to.not.equal("200 ok");
    });

    it("settings that ask for authorities and for no verification are not usable", async () => {
      expect(await outcome(backend, { unverified: true })).to.equal("tls: upstream TLS policy not usable");
      expect(await outcome(backend, { hostname: "" })).to.equal("tls: upstream TLS policy not usable");
    });
  });

  it("a server name that is hidden is not sent, and is verified all the same", async () => {
    const server = await startTlsBackend();
    expect(outcomeOf(await send(client, endpointWith(server.port, { hidesServerName: true })))).to.equal(
      "200 ok",
    );
    expect(server.secure[0]?.servername).to.equal(false);
    server.close();
    expect(await outcome(backend, { hidesServerName: true, hostname: "other.test" })).to.equal(otherName);
  });

  it("a chain with more intermediate certificates than the settings allow is rejected", async () => {
    const middle = issueCertificate(["Middle"], { issuer: authority, ca: true });
    const leaf = issueCertificate(["backend.test"], { issuer: middle });
    expect(await outcome(leaf, { maxIntermediates: 1 })).to.equal("200 ok");
    expect(await outcome(leaf, { maxIntermediates: 0 })).to.equal(untrusted);
    expect(await outcome(backend, { maxIntermediates: 0 })).to.equal("200 ok");
  });

  describe("the names of backend certificates", () => {
    it("the hostname must match a subject alternative name of the backend certificate", async () => {
      const wildcard = issueCertificate(["*.web.test"], { issuer: authority });
      expect(await outcome(backend, { hostname: "other.test" })).to.equal(otherName);
      expect(await outcome(wildcard, { hostname: "a.web.test" })).to.equal("200 ok");
      expect(await outcome(wildcard, { hostname: "a.b.web.test" })).to.equal(otherName);
      expect(await outcome(wildcard, { hostname: "web.test" })).to.equal(otherName);
      // The name of the subject is "backend.test".
      const nameless = issueCertificate(["backend.test"], { issuer: authority, withoutNames: true });
      expect(await outcome(nameless)).to.equal(otherName);
    });

    it("with a list of subject alternative names, one of them must match instead of the hostname", async () => {
      const dns = (value: string) => ({ type: "dns", value }) as const;
      const uri = (value: string) => ({ type: "uri", value }) as const;
      const identity = "spiffe://cluster.test/ns/a,b/sa/web";
      const listed = (...subjectAltNames: NonNullable<BackendTls["subjectAltNames"]>) =>
        outcome(backend, { hostname: "sni.test", subjectAltNames });
      expect(await listed(dns("no.test"), dns("backend.test"))).to.equal("200 ok");
      expect(await listed(dns("*.test"))).to.equal("200 ok");
      expect(await listed(dns("no.test"), uri(identity))).to.equal("200 ok");
      expect(await listed(dns("sni.test"))).to.equal(otherName);
      expect(await listed(dns("*.backend.test"))).to.equal(otherName);
      expect(await listed(uri(identity.toUpperCase()))).to.equal(otherName);
      expect(await listed(uri("spiffe://cluster.test/ns/a"))).to.equal(otherName);
      expect(await listed(dns(identity))).to.equal(otherName);
      const nameless = issueCertificate(["backend.test"], { issuer: authority, withoutNames: true });
      expect(await outcome(nameless, { subjectAltNames: [dns("backend.test")] })).to.equal(otherName);
    });
  });

  describe("client certificates", () => {
    const own = issueCertificate(["gateway.test"], { issuer: authority });
    const asking: TlsOptions = { requestCert: true, rejectUnauthorized: true, ca: [authority.leafPem] };

    it("a configured client certificate is presented to the backend", async () => {
      expect(await outcome(backend, {}, { ...asking, client: { certificate: own } })).to.equal("200 ok");
    });

    it("an alert of the backend after the TLS 1.3 handshake is a TLS failure", async () => {
      const unknown = issueCertificate(["gateway.test"], { issuer: otherAuthority });
      const server = await sServer(backend, authority.leafPem);
      for (const shown of [undefined, { certificate: unknown }]) {
        const recorder = await send(client, endpointWith(server.port, {}, shown));
        expect(outcomeOf(recorder)).to.equal("tls: upstream broke off TLS");
      }
      server.close();
    });

    it("an endpoint without usable client certificate or TLS policy is not connected to", async () => {
      const server = await RawServer.start();
      const { port } = server.endpoint;
      expect(outcomeOf(await send(client, endpointWith(port, {}, {})))).to.equal(
        "tls: no valid client certificate for upstream",
      );
      expect(outcomeOf(await send(client, endpointWith(port, { authorities: undefined })))).to.equal(
        "tls: upstream TLS policy not usable",
      );
      expect(server.peers.length).to.equal(0);
      server.close();
    });
  });

  describe("hostile backends", () => {
    async function against(onData: (server: RawServer, index: number) => void): Promise<string> {
      const server: RawServer = await RawServer.start((peer, index) => {
        peer.onData = () => onData(server, index);
      });
      const recorder = await send(client, endpointWith(server.endpoint.port));
      server.close();
      expect(recorder.error?.requestSent).to.equal(false);
      return outcomeOf(recorder);
    }

    it("a backend that answers a ClientHello in plaintext fails the handshake", async () => {
      const text = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
      expect(await against((server, index) => server.peers[index]?.write(text))).to.equal(noHandshake);
    });

    it("a TLS alert of the backend fails the handshake", async () => {
      const alert = "\x15\x03\x03\x00\x02\x02\x28";
      expect(await against((server, index) => server.peers[index]?.write(alert))).to.equal(noHandshake);
    });

    it("a malformed TLS record of the backend fails the handshake", async () => {
      const record = "\x16\x03\x03\x00\x04\x02\x00\x00\x00";
      expect(await against((server, index) => server.peers[index]?.write(record))).to.equal(noHandshake);
    });

    it("a backend that closes or resets during the handshake fails it", async () => {
      expect(await against((server, index) => server.peers[index]?.socket.end())).to.equal(noHandshake);
      expect(await against((server, index) => server.peers[index]?.reset())).to.equal(noHandshake);
    });

    it("the connect timeout covers the TLS handshake with a silent backend", async () => {
      const server = await RawServer.start();
      const impatient = createHttp1UpstreamClient(clientOptions({ connectTimeoutMs: 500 }));
      expect(outcomeOf(await send(impatient, endpointWith(server.endpoint.port)))).to.equal(
        "connect-timeout: upstream TLS handshake timeout",
      );
      await until(() => server.peers[0]?.closed === true);
      server.close();
    });

    it("a TLS renegotiation by the backend is refused", async () => {
      const server = await startTlsBackend(backend, { maxVersion: "TLSv1.2", answer: "" });
      const recorder = new Recorder();
      client.send(endpointWith(server.port), getRequest(), recorder);
      await until(() => server.received.includes("\r\n\r\n"));
      const [socket] = server.secure;
      const refused = new Promise<unknown>((resolve) => {
        socket?.renegotiate({ requestCert: true }, resolve);
        socket?.once("error", resolve);
        socket?.once("close", resolve);
      });
      expect(await refused).to.be.an("error");
      await recorder.done;
      expect(recorder.error?.kind).to.be.oneOf(["tls", "reset"]);
      server.close();
    });

    it("TLS versions before 1.2 and suites without forward secrecy are rejected", async () => {
      const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
      const static_ = { maxVersion: "TLSv1.2", ciphers: "AES128-GCM-SHA256" } as const;
      const rsa = issueCertificate(["backend.test"], { issuer: authority, type: "rsa" });
      expect(await outcome(rsa, {}, old)).to.equal(noHandshake);
      expect(await outcome(rsa, {}, static_)).to.equal(noHandshake);
    });
  });

  it("TLS sessions resume only with the endpoint that they were verified for", async () => {
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
      const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
      const server = await startTlsBackend(backend, { maxVersion, answer });
      const endpoint = endpointWith(server.port);
      await send(client, endpoint);
      await send(client, endpoint);
      await send(client, endpointWith(server.port));
      expect(server.resumed).to.deep.equal([false, true, false]);
      server.close();
    }
  });

  it("a TLS response is read at the pace of its receiver, and completely", async () => {
    const bytes = 8 * 1024 * 1024;
    const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${"x".repeat(bytes)}`;
    const server = await startTlsBackend(backend, { answer });
    const recorder = new Recorder();
    recorder.accepting = false;
    const stream = client.send(endpointWith(server.port), getRequest(), recorder);
    await until(() => recorder.receivedBytes > 0);
    const [socket] = server.secure;
    // The backend keeps most of it, since the receiver does not read.
    await until(() => socket?.writableNeedDrain === true);
    expect(recorder.receivedBytes).to.be.below(bytes / 2);
    recorder.accepting = true;
    stream.resume();
    await recorder.done;
    expect([recorder.ends, recorder.receivedBytes]).to.deep.equal([["end"], bytes]);
    server.close();
  });

  it("an upgrade over TLS hands the WebSocket over", async () => {
    const answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    const server = await startTlsBackend(backend, { answer });
    const recorder = await send(client, endpointWith(server.port), { upgrade: "websocket" });
    const { transport } = recorder.upgraded ?? {};
    if (transport === undefined) throw new Error("no upgrade");
    const received = readEnd(transport);
    server.secure[0]?.write("from the backend");
    transport.writeText("from the client");
    transport.end();
    await until(() => received.text === "from the backend" && server.received.endsWith("from the client"));
    server.close();
  });
});

describeHttp2Codecs("HTTP/2 over TLS", (codec) => {
  const client = createHttp2UpstreamClient(clientOptions(), codec);
  const request = { protocol: "http2" } as const;
  after(() => client.close());

  it("HTTP/2 over TLS negotiates h2 by ALPN", async () => {
    const server = await startBackend(
      (stream) => stream.respond({ ":status": 200 }, { endStream: true }),
      {},
      { cert: backend.chainPem, key: backend.keyPem },
    );
    const endpoint = endpointWith(server.port);
    expect((await send(client, endpoint, request)).head?.status).to.equal(200);
    expect((await send(client, endpoint, request)).reused).to.deep.equal([true]);
    expect(server.sessions[0]?.alpnProtocol).to.equal("h2");
    await server.close();
  });

  it("HTTP/2 is not spoken with a backend that has not negotiated it", async () => {
    const unaware = await startTlsBackend(backend, { ALPNProtocols: [] });
    expect(outcomeOf(await send(client, endpointWith(unaware.port), request))).to.equal(
      "tls: upstream does not agree on the protocol",
    );
    expect(unaware.received).to.equal("");
    unaware.close();
    const other = await startTlsBackend(backend, { ALPNProtocols: ["http/1.1"] });
    expect(outcomeOf(await send(client, endpointWith(other.port), request))).to.equal(noHandshake);
    other.close();
  });

  it("an untrusted certificate fails an HTTP/2 request as a TLS error", async () => {
    const foreign = await startTlsBackend(issueCertificate(["backend.test"], { issuer: otherAuthority }));
    expect(outcomeOf(await send(client, endpointWith(foreign.port), request))).to.equal(untrusted);
    foreign.close();
  });
});
