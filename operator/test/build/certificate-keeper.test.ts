import { createPrivateKey, webcrypto, X509Certificate } from "node:crypto";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../src/api/object.ts";
import { createCertificateKeeper } from "../../src/build/certificate-keeper.ts";
import { commonName, signCertificate } from "../../src/discovery/certificate-builder.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import type { Translation } from "../../src/translate/translation.ts";
import { createWorld, updateWorld, type World, type WorldChange } from "../../src/world.ts";
import { svcClass } from "../support/manifests.ts";

const host = "a.example.com";
const nowMs = Date.UTC(2026, 0, 1);

type Issued = { readonly chainPem: string; readonly keyPem: string };

const ecdsa = { name: "ECDSA", namedCurve: "P-256" } as const;

/** Issues a self-signed certificate with this name as its subject. */
async function issue(notAfterMs = Date.UTC(2100, 0, 1), name = host): Promise<Issued> {
  const { publicKey, privateKey } = await webcrypto.subtle.generateKey(ecdsa, true, ["sign", "verify"]);
  const subject = commonName(name);
  const der = await signCertificate(
    {
      subject,
      publicKey: new Uint8Array(await webcrypto.subtle.exportKey("spki", publicKey)),
      notBeforeMs: Date.UTC(2020, 0, 1),
      notAfterMs,
      extensions: [],
    },
    { name: subject, key: privateKey },
  );
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", privateKey));
  return {
    chainPem: new X509Certificate(der).toString(),
    keyPem: String(
      createPrivateKey({ key, format: "der", type: "pkcs8" }).export({ format: "pem", type: "pkcs8" }),
    ),
  };
}

type Secret = KubeObject & { readonly type: string; readonly data: object };

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const secretOf = (certificate: string, key: string, uid = "1", name = "cert"): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "shop", uid },
  type: "kubernetes.io/tls",
  data: { "tls.crt": base64(certificate), "tls.key": base64(key) },
});
const good = ({ chainPem, keyPem }: Issued, uid?: string): Secret => secretOf(chainPem, keyPem, uid);
const garbage = (text = "garbage", uid?: string): Secret => secretOf(text, text, uid);

const ingress = (name = "web"): KubeObject & { readonly spec: object } => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name, namespace: "shop" },
  spec: {
    ingressClassName: "svc",
    tls: [{ hosts: [host], secretName: "cert" }],
    rules: [{ host }],
  },
});

const apply = (object: KubeObject): WorldChange => ({ type: "apply", object });
const remove = (kind: "Secret" | "Ingress", name: string): WorldChange => ({
  type: "delete",
  kind,
  namespace: "shop",
  name,
});

let first: Issued;
let second: Issued;

const parseDocuments = (text: string): readonly KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);

/** A controller in small: each change is a build, which gives the certificate that the host has. */
function setUp(initial: readonly KubeObject[] = [svcClass, ingress(), good(first)]) {
  const keeper = createCertificateKeeper();
  let world: World = createWorld(initial);
  let translation: Translation;
  const build = (atMs = nowMs): string | undefined => {
    translation = translate(keeper.keep(world, atMs), defaultTranslateSettings, { nowMs: atMs });
    const port = translation.routing.tls.get(443);
    const id = port?.hosts.find((one) => one.host === host)?.certificates[0];
    return id === undefined ? undefined : port?.certificates[id]?.chainPem;
  };
  const change = (...changes: readonly WorldChange[]): string | undefined => {
    world = updateWorld(world, changes);
    return build();
  };
  expect(build()).to.equal(initial.some(({ kind }) => kind === "Secret") ? first.chainPem : undefined);
  return { keeper, build, change, translation: () => translation };
}

describe("createCertificateKeeper", () => {
  before(async () => {
    [first, second] = [await issue(), await issue()];
  });

  it("the certificate of a Secret that becomes unusable stays in service, and a finding reports it", () => {
    const { keeper, change, translation } = setUp();
    expect(keeper.count).to.equal(0);
    for (const text of ["garbage", "other garbage", "third"]) {
      expect(change(apply(garbage(text)))).to.equal(first.chainPem);
      expect(keeper.count).to.equal(1);
    }
    const [finding] = translation().diagnostics.filter(({ reason }) => reason === "LastCertificateKept");
    expect(finding).to.deep.include({ field: "spec.tls[0].secretName", severity: "warning" });
    expect(finding?.message).to.match(/^Secret shop\/cert can no longer be used: .* is served until 2/);
    expect(change(apply(good(second)))).to.equal(second.chainPem);
    expect(keeper.count).to.equal(0);
    expect(change(apply(garbage()))).to.equal(second.chainPem);
  });

  it("nothing is kept of a Secret that is deleted, or recreated under its name", () => {
    const { change } = setUp();
    expect(change(apply(garbage()))).to.equal(first.chainPem);
    expect(change(remove("Secret", "cert"))).to.equal(undefined);
    expect(change(apply(garbage()))).to.equal(undefined);
    const other = setUp();
    expect(other.change(apply(garbage("garbage", "2")))).to.equal(undefined);
    const spoiled = setUp();
    spoiled.change(apply(garbage()));
    expect(spoiled.change(apply(garbage("garbage", "2")))).to.equal(undefined);
  });

  it("a kept certificate is dropped when it expires", async () => {
    const limited = await issue(nowMs + 1000);
    const { keeper, build, change } = setUp();
    expect(change(apply(good(limited)))).to.equal(limited.chainPem);
    expect(change(apply(garbage()))).to.equal(limited.chainPem);
    expect(build(nowMs + 1000)).to.equal(limited.chainPem);
    expect(build(nowMs + 1001)).to.equal(undefined);
    expect(keeper.count).to.equal(0);
  });

  it("only a certificate that was in service is kept, and only while something refers to it", () => {
    const { keeper, change } = setUp([svcClass, good(first)].filter(({ kind }) => kind !== "Secret"));
    change(apply(good(first)));
    change(apply(garbage()));
    expect(change(apply(ingress()))).to.equal(undefined);
    change(apply(good(first)));
    expect(change(apply(garbage()))).to.equal(first.chainPem);
    change(remove("Ingress", "web"));
    // Spoiled once more while nothing names it: then it is forgotten.
    change(apply(garbage("unnamed")));
    change();
    expect(keeper.count).to.equal(0);
    expect(change(apply(ingress()))).to.equal(undefined);
  });

  it("the list of Secrets keeps its identity while nothing changes, and the world is returned as is when nothing is kept", () => {
    const keeper = createCertificateKeeper();
    const world = createWorld([svcClass, ingress(), good(first)]);
    expect(keeper.keep(world, nowMs)).to.equal(world);
    translate(world, defaultTranslateSettings);
    const spoiled = updateWorld(world, [apply(garbage())]);
    const kept = keeper.keep(spoiled, nowMs);
    translate(kept, defaultTranslateSettings);
    expect(kept.Secret).to.not.equal(spoiled.Secret);
    expect(keeper.keep(spoiled, nowMs).Secret).to.equal(kept.Secret);
    const more = updateWorld(spoiled, [apply(ingress("other"))]);
    expect(keeper.keep(more, nowMs).Secret).to.equal(kept.Secret);
    expect(keeper.keep(more, nowMs).Ingress).to.equal(more.Ingress);
  });

  it("two replicas that saw the same changes have the same snapshot", () => {
    const [one, other] = [setUp(), setUp()];
    one.change(apply(garbage("between")));
    one.change(apply(garbage()));
    other.change(apply(garbage()));
    const hashes = [one, other].map(({ translation }) =>
      translation().scopes.shared.map(({ key, hash }) => `${key} ${hash}`),
    );
    expect(hashes[0]).to.deep.equal(hashes[1]);
  });

  it("the listener of a Gateway stays in service with the kept certificate, and its status reports the problem", () => {
    const gateway = parseDocuments(`
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: svc }
spec: { controllerName: svc-labs.dev/gateway-controller }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec:
  gatewayClassName: svc
  listeners:
    - { name: https, port: 443, protocol: HTTPS, hostname: ${host}, tls: { certificateRefs: [{ name: cert }] } }
`);
    const { change, translation } = setUp([...gateway, good(first)]);
    expect(change(apply(garbage()))).to.equal(first.chainPem);
    const text = JSON.stringify(translation().gatewayStatuses.gateways);
    expect(text).to.include("InvalidCertificateRef").and.to.include("is served until");
    const [finding] = translation().diagnostics;
    expect(finding).to.include({ reason: "InvalidCertificateRef", severity: "error" });
    expect(change(remove("Secret", "cert"))).to.equal(undefined);
  });

  it("the certificates kept for one namespace are limited to 4 MiB, regardless of other namespaces", async () => {
    const large = await issue(undefined, "x".repeat(40_000));
    const fitting = Math.floor((4 * 1_048_576) / (large.chainPem.length + large.keyPem.length));
    const names = Array.from({ length: fitting + 5 }, (_, index) => `cert-${index}`);
    const objects = ["shop", "blog"].flatMap((namespace) =>
      names.slice(0, namespace === "shop" ? undefined : 1).flatMap((name) => [
        { ...good(large), metadata: { name, namespace, uid: name } },
        {
          ...ingress(),
          metadata: { name, namespace },
          spec: {
            ingressClassName: "svc",
            tls: [{ hosts: [`${name}.${namespace}.example`], secretName: name }],
          },
        },
      ]),
    );
    const keeper = createCertificateKeeper();
    const spoil = (world: World, text: string): World => {
      const changes = objects
        .filter(({ kind }) => kind === "Secret")
        .map((one) => ({ ...garbage(text), metadata: one.metadata }));
      return updateWorld(world, changes.map(apply));
    };
    let world = createWorld([svcClass, ...objects]);
    for (const text of ["", "garbage", "other garbage"]) {
      if (text !== "") world = spoil(world, text);
      translate(keeper.keep(world, nowMs), defaultTranslateSettings);
      expect(keeper.count).to.equal(text === "" ? 0 : fitting + 1);
    }
  });
});
