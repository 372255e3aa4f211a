import { expect } from "chai";
import {
  createExampleCertificates,
  type ExampleCertificates,
} from "../../scripts/quickstart/certificates.ts";
import { ask } from "../support/api.ts";
import { echoed, send, type Reply, type SendOptions } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, gatewayApi, needGatewayApi } from "../support/gateway-api.ts";
import { ingress } from "../support/ingress.ts";
import { poll } from "../support/poll.ts";
import { useSandbox } from "../support/sandbox.ts";
import { eventsIn, useTenant, useVictim } from "../support/tenant.ts";
import { tlsSecret } from "../support/tls-secret.ts";
import { until } from "../support/until.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a tenant that claims the hosts of others", () => {
  const tenant = useTenant("tenant-hosts");
  const victim = useVictim("tenant-hosts-victim");

  before(async function () {
    this.timeout(300_000);
    await deployEcho(tenant, { name: "mallory", replicas: 1 });
  });

  it("a path that the owner of a host serves stays with the owner, and the tenant gets an Event", async () => {
    await tenant.apply(
      ingress({ name: "grab", host: victim.host, paths: [{ path: "/", service: "mallory" }] }),
    );
    await until("the Event", async () =>
      (await eventsIn(tenant.namespace)).some(
        ({ reason, regarding }) => reason === "RouteConflict" && regarding.name === "grab",
      ),
    );
    await victim.expectServed();
  });

  it("a Secret of another namespace cannot be referenced by name", async () => {
    const own = `${tenant.namespace}.example`;
    await victim.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "users", labels: { "ingress.svc-labs.dev/auth-basic": "true" } },
      type: "Opaque",
      stringData: { auth: "alice:$2b$08$8lE.arUjjF15iEZOQofIH.sv4RiV5ekckUZizdAdzk1gBFNIAGfby\n" },
    });
    await tenant.apply(
      ingress({
        name: "borrowed",
        host: own,
        annotations: { "auth-basic-secret": `${victim.namespace}/users` },
        paths: [{ service: "mallory" }],
      }),
    );
    const authorization = `Basic ${base64("alice:a")}`;
    await until("the Ingress", async () => (await send({ host: own })).status !== 404);
    expect((await send({ host: own, headers: { authorization } })).status).to.equal(503);
    await victim.expectServed();
  });

  it("a certificate of another namespace cannot be used for a listener", async function () {
    await needGatewayApi(this);
    const { certificatePem, keyPem } = await createExampleCertificates([victim.host]);
    await victim.apply(tlsSecret({ certificatePem, keyPem }));
    await tenant.apply(
      gateway("borrowed", {
        listeners: [
          {
            name: "https",
            port: 443,
            protocol: "HTTPS",
            tls: { certificateRefs: [{ name: "tls", namespace: victim.namespace }] },
          },
        ],
      }),
    );
    type Status = {
      readonly status?: {
        readonly listeners?: readonly {
          readonly conditions: readonly { readonly type: string; readonly reason: string }[];
        }[];
      };
    };
    const { value } = await until("the status", async () => {
      const { status } = await ask<Status>(
        `/apis/${gatewayApi}/namespaces/${tenant.namespace}/gateways/borrowed`,
      );
      return status?.listeners?.[0]?.conditions.find(({ type }) => type === "ResolvedRefs");
    });
    expect(value.reason).to.equal("RefNotPermitted");
  });
});

describe("a tenant that tries to disable the client certificates of a host", () => {
  const owner = useSandbox("tenant-mtls-owner");
  const tenant = useTenant("tenant-mtls");
  const host = `${owner.namespace}.example`;
  let server: ExampleCertificates;
  let client: ExampleCertificates;
  let mallory: ExampleCertificates | undefined;

  /**
   * Trusts both servers that have a certificate for the host: the test is about the certificate that clients must
   * present.
   */
  const sendTls = (options: Partial<SendOptions> = {}): Promise<Reply> =>
    send({ host, caPem: `${server.authorityPem}\n${mallory?.authorityPem ?? ""}`, ...options });
  const outcome = (sending: Promise<Reply>): Promise<number | "refused"> =>
    sending.then(
      ({ status }) => status,
      () => "refused" as const,
    );

  before(async function () {
    this.timeout(300_000);
    server = await createExampleCertificates([host]);
    client = await createExampleCertificates(["alice"], { usage: "client" });
    await deployEcho(owner, { name: "owner", replicas: 1 });
    await deployEcho(tenant, { name: "mallory", replicas: 1 });
    await owner.apply(
      tlsSecret(server),
      {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "clients", labels: { "ingress.svc-labs.dev/auth-tls": "true" } },
        type: "Opaque",
        data: { "ca.crt": base64(client.authorityPem) },
      },
      ingress({
        name: "protected",
        host,
        tlsSecret: "tls",
        annotations: { "auth-tls-secret": `${owner.namespace}/clients` },
        paths: [{ service: "owner" }],
      }),
    );
    await until("the host", async () => (await outcome(sendTls({ identity: client }))) === 200);
  });

  const expectProtected = async (): Promise<void> => {
    expect(await outcome(sendTls()), "without a certificate").to.not.equal(200);
    const served = await sendTls({ identity: client });
    expect(echoed(served)?.backend, "with one").to.include("owner");
  };

  it("Ingresses of another tenant for the host do not disable its client certificates", async () => {
    mallory = await createExampleCertificates([host]);
    // Of two Ingresses created in the same second, neither is older.
    await poll("the next second", async () => {
      const { metadata } = await ask<{ readonly metadata: { readonly creationTimestamp: string } }>(
        `/apis/networking.k8s.io/v1/namespaces/${owner.namespace}/ingresses/protected`,
      );
      return Date.now() > Date.parse(metadata.creationTimestamp) + 2_000;
    });
    await tenant.apply(
      tlsSecret(mallory),
      ingress({ name: "with", host, tlsSecret: "tls", paths: [{ path: "/a", service: "mallory" }] }),
      ingress({ name: "without", host, paths: [{ path: "/b", service: "mallory" }] }),
      ingress({
        name: "all",
        host: `*.${host.slice(host.indexOf(".") + 1)}`,
        tlsSecret: "tls",
        paths: [{ service: "mallory" }],
      }),
    );
    await until(
      "its Ingresses",
      async () => (await outcome(sendTls({ identity: client, path: "/b" }))) === 200,
    );
    await expectProtected();
  });

  it("a missing certificate of the owner does not disable the client certificates of its host", async () => {
    await owner.delete("secret", "tls");
    await until(
      "the certificate to be removed",
      async () => (await outcome(sendTls({ identity: client }))) !== 200,
    );
    for (const path of ["/", "/a"]) expect(await outcome(sendTls({ path })), path).to.not.equal(200);
    await owner.apply(tlsSecret(server));
    await until(
      "the certificate to be back",
      async () => (await outcome(sendTls({ identity: client }))) === 200,
    );
    await expectProtected();
  });
});
