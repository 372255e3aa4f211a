import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { connect as connectTls, createServer, type TLSSocket } from "node:tls";
import { expect } from "chai";
import type { BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import { backendCertificateKey, backendTlsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { authority, backend, otherAuthority } from "../upstream/tls/support.ts";
import { eventually, startTcp } from "./gateway.ts";
import { l4Route, startL4, sendOverTls, type L4Gateway, type L4Plan } from "./l4.ts";

const host = "end.example.com";
const set = "ns/secure/443";
const ofGateway = issueCertificate([host]);
const ofClient = issueCertificate(["edge.test"], { issuer: authority });

const policyOf = (policy: Partial<BackendTls> = {}): Resource =>
  encodeResource<"backendtls">(backendTlsKey("ns/strict"), {
    hostname: "backend.test",
    authorities: authority.leafPem,
    ...policy,
  });

const shown = encodeResource<"backendcert">(backendCertificateKey("ns/edge"), { certificate: ofClient });

describe("TLS that ends at a TLS route and begins again towards backends", () => {
  /** The bytes that backends received after their handshakes. */
  let received: string;
  let server: ReturnType<typeof createServer>;
  let gateway: L4Gateway | undefined;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    received = "";
    server = createServer({
      cert: backend.chainPem,
      key: backend.keyPem,
      ca: authority.leafPem,
      requestCert: true,
      rejectUnauthorized: false,
      allowHalfOpen: true,
    });
    server.on("tlsClientError", () => {});
    server.on("secureConnection", (socket: TLSSocket) => {
      sockets.push(socket);
      socket.on("error", () => {});
      let text = "";
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        received += chunk.toString();
      });
      const client = socket.getPeerX509Certificate()?.subjectAltName ?? "no certificate";
      socket.on("end", () => socket.end(`${String(socket.servername)} heard ${text} of ${client}`));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway?.close();
    server.close();
  });

  const planOf = (options: {
    readonly clientCertificate?: string;
    readonly resources: readonly Resource[];
  }): L4Plan => ({
    endpoints: { [set]: [(server.address() as AddressInfo).port] },
    backendTls: "ns/strict",
    resources: options.resources,
    tls: [
      {
        kind: "exact",
        host,
        mode: "terminate",
        route: l4Route([set, 1]),
        ...(options.clientCertificate !== undefined && { clientCertificate: options.clientCertificate }),
      },
    ],
    certificates: {
      certificates: { own: ofGateway },
      hosts: [{ bucket: "exact", host, certificates: ["own"], applicationProtocols: "none" }],
    },
  });

  /** Sends bytes; resolves to the answer, with the error code of a connection that failed. */
  function talk(bytes: string): Promise<string> {
    const socket = connectTls({
      host: "127.0.0.1",
      port: gateway?.tlsPort ?? 0,
      servername: host,
      rejectUnauthorized: false,
    });
    socket.allowHalfOpen = true;
    sockets.push(socket);
    return sendOverTls(socket, bytes);
  }

  it("a TLS route connects with the server name of the policy and relays a half-close", async () => {
    gateway = await startL4(planOf({ resources: [policyOf()] }));
    expect(await talk("hello")).to.equal("backend.test heard hello of no certificate");
  });

  it("a TLS route shows the certificate of the Gateway to the backend", async () => {
    gateway = await startL4(planOf({ clientCertificate: "ns/edge", resources: [policyOf(), shown] }));
    expect(await talk("hello")).to.equal("backend.test heard hello of DNS:edge.test");
  });

  for (const [way, connectTimeoutMs] of [
    ["resets", 60_000],
    // These bytes are not read before the backend answers.
    ["sends garbage instead of TLS", 2_000],
  ] as const) {
    it(`a client that ${way} while the backend does not answer the handshake ends only its own connection`, async () => {
      const silent = await startTcp((socket) => void socket.resume());
      const plan = planOf({ resources: [policyOf()] });
      // The time of the silent backend alone: the machine may be too busy for a handshake within it.
      const policy = { connectTimeoutMs };
      gateway = await startL4({ ...plan, endpoints: { [set]: [silent.port] }, policy }, [
        "--proxy-connect-timeout=60s",
      ]);
      const below = connect(gateway.tlsPort, "127.0.0.1");
      below.on("error", () => {});
      const client = connectTls({ socket: below, servername: host, rejectUnauthorized: false });
      client.on("error", () => {});
      sockets.push(below, client);
      const [upstream] = (await once(silent.server, "connection")) as [Socket];
      if (way === "resets") below.resetAndDestroy();
      else below.write("nonsense ".repeat(100));
      await eventually(() => upstream.closed);
      await silent.close();
      await gateway.update(plan);
      expect(await talk("hello")).to.equal("backend.test heard hello of no certificate");
    });
  }

  for (const [name, policy] of [
    ["another authority", { authorities: otherAuthority.leafPem }],
    ["another hostname", { hostname: "other.test" }],
    ["no authority", { authorities: undefined }],
  ] as const) {
    it(`clients are reset and the backend gets none of their bytes when the policy names ${name}`, async () => {
      gateway = await startL4(planOf({ resources: [policyOf(policy)] }));
      expect(await talk("secret")).to.equal("[ECONNRESET]");
      const errors = await gateway.samples("svc_proxy_upstream_errors_total");
      expect(errors.join("\n")).to.contain('error_type="tls"');
      expect(received).to.equal("");
    });
  }

  it("clients of a TLS route are reset while there is no endpoint", async () => {
    gateway = await startL4({ ...planOf({ resources: [policyOf()] }), endpoints: { [set]: [] } });
    expect(await talk("secret")).to.equal("[ECONNRESET]");
  });
});
