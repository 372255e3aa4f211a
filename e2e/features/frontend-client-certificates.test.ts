import { expect } from "chai";
import { issueCertificate } from "../../proxy/test/tls/certificates.ts";
import { fieldsOf, send, type SendOptions } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, httpRoute, needGatewayApi } from "../support/gateway-api.ts";
import { gatewayAt, programmedAddress } from "../support/gateways.ts";
import { useSandbox } from "../support/sandbox.ts";
import { tlsSecret } from "../support/tls-secret.ts";
import { until } from "../support/until.ts";

describe("client certificates of a Gateway", () => {
  const sandbox = useSandbox("frontend-client-certificates");
  const host = "frontend.e2e.example";
  const authority = issueCertificate(["authority"], { ca: true });
  const server = issueCertificate([host], { issuer: authority });
  const identityOf = (name: string, issuer: typeof authority) => {
    const { chainPem, keyPem } = issueCertificate([name], { issuer });
    return { certificatePem: chainPem, keyPem };
  };
  const alice = identityOf("alice", authority);
  const mallory = identityOf("mallory", issueCertificate(["untrusted"], { ca: true }));

  const edge = (mode: string): object => {
    const validation = { mode, caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "clients" }] };
    return gateway("edge", {
      listeners: [
        { name: "https", port: 443, protocol: "HTTPS", tls: { certificateRefs: [{ name: "tls" }] } },
      ],
      tls: { frontend: { default: { validation } } },
    });
  };
  const clients = (pem: string): object => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "clients" },
    data: { "ca.crt": pem },
  });
  const conditions = async (): Promise<readonly string[]> => {
    const { status } = await gatewayAt(sandbox.namespace, "edge");
    const all = [...(status?.conditions ?? []), ...(status?.listeners?.[0]?.conditions ?? [])];
    return all.map(({ type, status: state, reason }) => `${type}=${state} ${reason}`);
  };

  let address: string | undefined;
  const outcome = (options: Partial<SendOptions> = {}): Promise<number | "refused"> =>
    send({ host, gateway: address, caPem: authority.leafPem, ...options }).then(
      ({ status }) => status,
      () => "refused" as const,
    );

  before(async function () {
    await needGatewayApi(this);
    await deployEcho(sandbox, { replicas: 1 });
    await sandbox.apply(
      tlsSecret({ certificatePem: server.chainPem, keyPem: server.keyPem }),
      clients(authority.leafPem),
      edge("AllowValidOnly"),
      httpRoute("echo", "edge", { hostnames: [host] }),
    );
    address = await programmedAddress(sandbox.namespace, "edge");
    await until("the route", async () => (await outcome({ identity: alice })) === 200);
  });

  it("AllowValidOnly accepts clients of the authority, and others fail the handshake", async () => {
    expect(await outcome()).to.equal("refused");
    expect(await outcome({ identity: mallory })).to.equal("refused");
    const headers = { "X-SSL-Client-Cert": "forged" };
    const reply = await send({ host, gateway: address, caPem: authority.leafPem, identity: alice, headers });
    expect(fieldsOf(reply, "x-ssl-client-cert")).to.deep.equal([]);
  });

  it("AllowInsecureFallback accepts every client, and a condition reports it", async () => {
    await sandbox.apply(edge("AllowInsecureFallback"));
    await until("a client without a certificate to be let in", async () => (await outcome()) === 200);
    expect(await outcome({ identity: mallory })).to.equal(200);
    await until("the condition", async () =>
      (await conditions()).includes("InsecureFrontendValidationMode=True ConfigurationChanged"),
    );
    await sandbox.apply(edge("AllowValidOnly"));
    await until("the handshake to be refused again", async () => (await outcome()) === "refused");
  });

  it("every client fails the handshake while the authority is invalid, and the listener reports it", async () => {
    await sandbox.apply(clients("not a certificate"));
    await until(
      "the handshake to be refused",
      async () => (await outcome({ identity: alice })) === "refused",
    );
    await until("the condition", async () =>
      (await conditions()).includes("ResolvedRefs=False InvalidCACertificateRef"),
    );
    expect(await conditions()).to.include("Accepted=False NoValidCACertificate");
    await sandbox.apply(clients(authority.leafPem));
    await until("the client to be let in", async () => (await outcome({ identity: alice })) === 200);
  });
});
