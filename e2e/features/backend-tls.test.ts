import { expect } from "chai";
import { issueCertificate } from "../../proxy/test/tls/certificates.ts";
import { ask, call } from "../support/api.ts";
import { send } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, gatewayApi, httpListener, httpRoute, to } from "../support/gateway-api.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

type PolicyObject = {
  readonly status?: {
    readonly ancestors?: readonly {
      readonly ancestorRef: { readonly name: string };
      readonly conditions: readonly {
        readonly type: string;
        readonly status: string;
        readonly reason: string;
      }[];
    }[];
  };
};

describe("backend-tls", () => {
  const sandbox = useSandbox("backend-tls");
  const host = "backend-tls.e2e.example";
  const authority = issueCertificate(["authority"], { ca: true });
  const untrusted = issueCertificate(["untrusted"], { ca: true });
  const backend = issueCertificate(["echo.internal"], { issuer: authority });

  const authorities = (pem: string): object => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "authorities" },
    data: { "ca.crt": pem },
  });
  const policy = (validation: object = {}): object => ({
    apiVersion: gatewayApi,
    kind: "BackendTLSPolicy",
    metadata: { name: "echo" },
    spec: {
      targetRefs: [{ group: "", kind: "Service", name: "echo", sectionName: "tls" }],
      validation: {
        caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "authorities" }],
        hostname: "echo.internal",
        ...validation,
      },
    },
  });
  const statusOf = async (path = "/"): Promise<number> => (await send({ host, path })).status;
  const reasons = async (): Promise<string[]> => {
    const { status } = await ask<PolicyObject>(
      `/apis/${gatewayApi}/namespaces/${sandbox.namespace}/backendtlspolicies/echo`,
    );
    return (status?.ancestors ?? []).flatMap(({ ancestorRef, conditions }) =>
      conditions.map(({ type, reason }) => `${ancestorRef.name} ${type} ${reason}`),
    );
  };

  before(async () => {
    const certificate = { certificatePem: backend.chainPem, keyPem: backend.keyPem };
    await deployEcho(sandbox, { replicas: 1, certificate });
    await sandbox.apply(
      authorities(authority.leafPem),
      policy(),
      ingress({
        name: "echo",
        host,
        paths: [
          { path: "/", service: "echo", port: "tls" },
          { path: "/plain", service: "echo" },
        ],
      }),
    );
    await until("the backend to be reached over TLS", async () => (await statusOf()) === 200);
  });

  it("BackendTLSPolicy: other ports of the Service are connected to without TLS", async () => {
    expect(await statusOf("/plain")).to.equal(200);
  });

  it("BackendTLSPolicy: requests get 502 while the certificate has another authority or another name", async () => {
    await sandbox.apply(authorities(untrusted.leafPem));
    await until("the backend not to be trusted", async () => (await statusOf()) === 502);
    await sandbox.apply(authorities(authority.leafPem), policy({ hostname: "other.internal" }));
    await until("the name to be wrong", async () => (await statusOf()) === 502);
    await sandbox.apply(
      policy({
        hostname: "other.internal",
        subjectAltNames: [{ type: "Hostname", hostname: "echo.internal" }],
      }),
    );
    await until("one of the names to be right", async () => (await statusOf()) === 200);
    await sandbox.apply(policy());
  });

  it("BackendTLSPolicy: a ClusterTrustBundle provides the authorities", async function () {
    const name = sandbox.namespace;
    const bundles = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles";
    // Kubernetes serves the kind only when it is enabled.
    if ((await call(bundles)).status === 404) return this.skip();
    const trust = (pem: string): Promise<unknown> =>
      sandbox.apply({
        apiVersion: "certificates.k8s.io/v1beta1",
        kind: "ClusterTrustBundle",
        metadata: { name },
        spec: { trustBundle: pem },
      });
    try {
      await trust(untrusted.leafPem);
      await sandbox.apply(
        policy({ caCertificateRefs: [{ group: "certificates.k8s.io", kind: "ClusterTrustBundle", name }] }),
      );
      await until("the backend not to be trusted", async () => (await statusOf()) === 502);
      await trust(authority.leafPem);
      await until("the backend to be trusted", async () => (await statusOf()) === 200);
    } finally {
      await call(`${bundles}/${name}`, { method: "DELETE" });
      await sandbox.apply(policy());
    }
  });

  it("BackendTLSPolicy: the status has conditions for each Gateway whose routes lead to the Service", async () => {
    await sandbox.apply(
      gateway("edge", { listeners: [httpListener("http", 8099)] }),
      httpRoute("echo", "edge", { rules: [{ backendRefs: to("echo", 443) }] }),
    );
    await until("the policy to be accepted", async () =>
      (await reasons()).includes("edge Accepted Accepted"),
    );
    await sandbox.apply(policy({ caCertificateRefs: [{ group: "", kind: "ConfigMap", name: "missing" }] }));
    await until("the authority to be missed", async () => {
      const seen = await reasons();
      return (
        seen.includes("edge Accepted NoValidCACertificate") &&
        seen.includes("edge ResolvedRefs InvalidCACertificateRef")
      );
    });
    await until("requests to get 502", async () => (await statusOf()) === 502);
  });
});
