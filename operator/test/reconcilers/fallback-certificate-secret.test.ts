import { X509Certificate } from "node:crypto";
import { expect } from "chai";
import type { KubeObject } from "../../src/api/object.ts";
import type { Build } from "../../src/build/table-builder.ts";
import { fallbackCertificateReconciler } from "../../src/reconcilers/fallback-certificate-secret.ts";
import type { ApiClient } from "../../src/sources/kubernetes/api-client.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld } from "../../src/world.ts";

const { ingressNginx } = defaultTranslateSettings;
const settings = { ...defaultTranslateSettings, ingressNginx: { ...ingressNginx, classes: ["nginx"] } };

const buildOf = (...objects: readonly unknown[]): Build => {
  const world = createWorld(objects as readonly KubeObject[]);
  return { world, translation: translate(world, settings) };
};

const ingress = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name: "web", namespace: "shop", creationTimestamp: "2024-01-01T00:00:00Z" },
  spec: { ingressClassName: "nginx", tls: [{ hosts: ["a.example"], secretName: "missing" }], rules: [] },
};

type Body = { readonly metadata: object; readonly type: string; readonly data: Record<string, string> };

function harness(status = 201) {
  const sent: { readonly path: string; readonly body: Body }[] = [];
  const call = (path: string, options: { readonly body: Body }) => {
    sent.push({ path, body: options.body });
    const error = { status, reason: "", message: "refused" };
    return Promise.resolve(status < 300 ? { ok: true, value: {} } : { ok: false, error });
  };
  const client = { call } as unknown as ApiClient;
  const reconciler = fallbackCertificateReconciler({ client, installNamespace: "svc-system" });
  const reconcile = (build: Build) =>
    reconciler.reconcile("svc-system/svc-fallback-certificate", {
      build,
      statuses: { write: () => Promise.reject(new Error("there is no status to write")) },
      signal: new AbortController().signal,
    });
  return { sent, reconciler, reconcile };
}

describe("fallbackCertificateReconciler", () => {
  it("a fallback certificate is created when a host needs it, and then shown to its clients", async () => {
    const { sent, reconciler, reconcile } = harness();
    const build = buildOf(ingress);
    expect(reconciler.dirty(undefined, build)).to.deep.equal(["svc-system/svc-fallback-certificate"]);
    expect(reconciler.dirty(build, build)).to.deep.equal([]);
    expect(await reconcile(build)).to.deep.equal({ ok: true, value: "created" });
    const [created] = sent;
    expect(created?.path).to.equal("/api/v1/namespaces/svc-system/secrets");
    const certificate = new X509Certificate(Buffer.from(created?.body.data["tls.crt"] ?? "", "base64"));
    expect(certificate.verify(certificate.publicKey)).to.equal(true);
    expect(certificate.ca).to.equal(false);
    const { translation } = buildOf(ingress, created?.body);
    const [port] = [...translation.routing.tls.values()];
    expect(port?.hosts.map(({ host }) => host)).to.deep.equal(["a.example"]);
  });

  it("a fallback certificate is neither made without need nor changed", async () => {
    const { sent, reconciler, reconcile } = harness();
    expect(reconciler.dirty(undefined, buildOf())).to.deep.equal([]);
    expect(await reconcile(buildOf())).to.deep.equal({ ok: true, value: "unchanged" });
    await reconcile(buildOf(ingress));
    expect(await reconcile(buildOf(ingress, sent[0]?.body))).to.deep.equal({ ok: true, value: "unchanged" });
    expect(sent).to.have.length(1);
  });

  it("a conflict counts as success, and a rejected write is retried", async () => {
    expect(await harness(409).reconcile(buildOf(ingress))).to.deep.equal({ ok: true, value: "unchanged" });
    expect((await harness(403).reconcile(buildOf(ingress))).ok).to.equal(false);
  });
});
