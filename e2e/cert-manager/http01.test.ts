import { X509Certificate } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { namespace as installNamespace } from "../deploy/release.ts";
import { loadBalancerAddresses } from "../support/address.ts";
import { ask, call, find } from "../support/api.ts";
import { send } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { clusterEnvironment, kubectl, providerName, showProvider } from "../support/provider.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";
import { startAcmeServer, type AcmeServer } from "./acme-server.ts";
import { createPrograms } from "./programs.ts";

type Definition = { readonly metadata: { readonly name: string } };
type List = { readonly items: readonly object[] };
type Secret = { readonly data?: Readonly<Record<string, string>> };
type LogLine = {
  readonly host?: string;
  readonly path?: string;
  readonly route_id?: string;
  readonly status?: number;
};

const minuteMs = 60_000;
const challenges = "/.well-known/acme-challenge/";

describe("certificates by cert-manager and an ACME server", function () {
  // Without a compiled cert-manager, compiling it takes most of the time.
  this.timeout(30 * minuteMs);
  const sandbox = useSandbox("cert-manager");
  const host = "cert-manager.e2e.example";
  const programs = createPrograms();
  let acme: AcmeServer | undefined;
  let definitions: readonly Definition[] = [];

  before(async function () {
    if ((await providerName()) !== "local") this.skip();
    const folder = (await showProvider("cert-manager")).trim();
    const [address] = await loadBalancerAddresses();
    if (address === undefined) throw new Error("svc-shared-proxy has no address of a load balancer");
    definitions = readdirSync(join(folder, "crds")).map(
      (name) => parse(readFileSync(join(folder, "crds", name), "utf8")) as Definition,
    );
    await sandbox.apply(...definitions);
    await kubectl(["wait", "--for=condition=Established", ...definitions.map(pathOf)]);
    acme = await startAcmeServer(programs, folder, address);
    const { KUBECONFIG: kubeconfig = "" } = await clusterEnvironment();
    programs.start(join(folder, "controller"), [
      `--kubeconfig=${kubeconfig}`,
      `--namespace=${sandbox.namespace}`,
      "--acme-http01-solver-image=cluster.local/acmesolver:dev",
      `--acme-http01-solver-nameservers=${acme.nameserver}`,
    ]);
    await deployEcho(sandbox, { replicas: 1 });
  });

  after(async () => {
    await programs.stop();
    acme?.dispose();
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (const { metadata } of definitions) await call(`${path}/${metadata.name}`, { method: "DELETE" });
  });

  const secretOf = (name: string): Promise<Secret | undefined> =>
    find<Secret>(`/api/v1/namespaces/${sandbox.namespace}/secrets/${name}`);
  const solverObjects = async (group: string, plural: string): Promise<number> => {
    const selector = "acme.cert-manager.io%2Fhttp01-solver";
    const path = `${group}/namespaces/${sandbox.namespace}/${plural}?labelSelector=${selector}`;
    return (await ask<List>(path)).items.length;
  };
  /** The log lines of the shared proxies for requests for challenges of the host. */
  const asked = async (): Promise<readonly LogLine[]> => {
    const selector = "app.kubernetes.io/component=shared-proxy";
    const args = ["--namespace", installNamespace, "logs", "--selector", selector, "--tail=-1"];
    const lines = (await kubectl([...args, "--since=10m"])).split("\n").filter((line) => line.includes(host));
    return lines
      .map((line) => JSON.parse(line) as LogLine)
      .filter((line) => line.host === host && line.path?.startsWith(challenges) === true);
  };

  it("a certificate is issued for an Ingress with ssl-redirect and auth-basic-secret, and is served", async () => {
    const parent = ingress({
      name: "parent",
      host,
      tlsSecret: "issued",
      annotations: { "ssl-redirect": "true", "auth-basic-secret": `${sandbox.namespace}/users` },
      paths: [{ service: "echo" }],
    }) as { readonly metadata: { readonly annotations: object } };
    const annotations = { ...parent.metadata.annotations, "cert-manager.io/issuer": "acme" };
    await sandbox.apply(
      {
        apiVersion: "cert-manager.io/v1",
        kind: "Issuer",
        metadata: { name: "acme" },
        spec: {
          acme: {
            server: acme?.directoryUrl,
            skipTLSVerify: true,
            privateKeySecretRef: { name: "account" },
            solvers: [{ http01: { ingress: { ingressClassName: "svc" } } }],
          },
        },
      },
      { ...parent, metadata: { ...parent.metadata, annotations } },
    );
    const { value } = await until(
      "the certificate",
      async () => {
        programs.check();
        return (await secretOf("issued"))?.data?.["tls.crt"];
      },
      4 * minuteMs,
    );
    const leaf = new X509Certificate(Buffer.from(value, "base64"));
    expect(leaf.subjectAltName).to.equal(`DNS:${host}`);
    expect(leaf.issuer).to.include("Pebble");

    // Verified against Pebble's own authority. The list of users does not exist, so the parent answers 503.
    const caPem = await acme?.authorityPem();
    await until("the certificate to be served", async () => {
      const { status, fingerprint } = await send({ host, ...(caPem !== undefined && { caPem }) });
      return status === 503 && fingerprint === leaf.fingerprint256;
    });
  });

  it("the challenge is validated at the solver, ahead of the redirect and authentication of the Ingress", async () => {
    const { value: lines } = await until("the access log", async () => {
      const all = await asked();
      return all.some(({ status }) => status === 200) && all;
    });
    const solver = `ingress/${sandbox.namespace}/cm-acme-http-solver-`;
    const bySolver = lines.filter(({ route_id: route }) => route?.startsWith(solver) === true);
    // cert-manager checks the challenge several times before it lets Pebble check it.
    expect(bySolver.filter(({ status }) => status === 200).length).to.be.at.least(2);
    for (const { route_id: route, status } of lines) {
      // The parent answers until the Ingress of the solver is served; after that, the solver fails until it is ready.
      const known = route?.startsWith(solver) === true ? [200, 502, 503] : [308];
      expect(known).to.include(status);
    }
  });

  it("the objects of the challenge are removed after it", async () => {
    await until("the objects of the solver to go", async () => {
      const counts = await Promise.all([
        solverObjects("/apis/networking.k8s.io/v1", "ingresses"),
        solverObjects("/api/v1", "services"),
        solverObjects("/api/v1", "pods"),
      ]);
      return counts.every((count) => count === 0);
    });
    const [line] = await asked();
    await until(
      "the parent to answer",
      async () => (await send({ host, path: line?.path ?? "" })).status === 308,
    );
  });
});

const pathOf = ({ metadata }: Definition): string => `customresourcedefinition/${metadata.name}`;
