import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { definitionOf, kindNames } from "../../../src/api/kinds.ts";
import {
  findInstalledKinds,
  pathOfObject,
  waitForInstalledKinds,
} from "../../../src/sources/kubernetes/installed-kinds.ts";
import { createFakeClient, type FakeClient } from "../../support/fake-client.ts";

const serving = (served: Readonly<Record<string, readonly string[]>>): FakeClient =>
  createFakeClient(({ path }) => {
    const plurals = served[path];
    return plurals === undefined ? 404 : { resources: plurals.map((name) => ({ name })) };
  });

describe("findInstalledKinds", () => {
  it("each installed kind has the preferred version that is served, and each group version is requested once", async () => {
    const client = serving({
      "/api/v1": ["services", "services/status", "secrets"],
      "/apis/networking.k8s.io/v1": ["ingresses"],
      "/apis/gateway.networking.k8s.io/v1": ["gateways"],
      "/apis/gateway.networking.k8s.io/v1beta1": ["gateways", "referencegrants"],
    });
    const found = await findInstalledKinds(client);
    expect(found.ok ? found.value.map(({ kind, path }) => `${kind} ${path}`) : []).to.deep.equal([
      "Gateway /apis/gateway.networking.k8s.io/v1/gateways",
      "Ingress /apis/networking.k8s.io/v1/ingresses",
      "ReferenceGrant /apis/gateway.networking.k8s.io/v1beta1/referencegrants",
      "Secret /api/v1/secrets",
      "Service /api/v1/services",
    ]);
    const asked = client.calls.map(({ path }) => path);
    expect(new Set(asked).size).to.equal(asked.length);
  });

  it("a failing server is an error, so that a kind does not look missing", async () => {
    const client = createFakeClient(({ path }) => (path === "/apis/networking.k8s.io/v1" ? 503 : 404));
    const found = await findInstalledKinds(client);
    expect(found.ok ? 0 : found.error.status).to.equal(503);
  });
});

describe("waitForInstalledKinds", () => {
  /** Every group with all of its kinds. */
  const everything = (path: string): { readonly resources: readonly { readonly name: string }[] } => ({
    resources: kindNames
      .map(definitionOf)
      .filter(({ group, versions }) => versions.some((version) => path.endsWith(`${group}/${version}`)))
      .map(({ plural }) => ({ name: plural })),
  });
  const ownKinds = kindNames.filter((kind) => definitionOf(kind).group.endsWith(".svc-labs.dev"));
  const { signal } = new AbortController();
  const log = silentLogger;

  it("the installed kinds are requested until the server answers", async () => {
    let isDown = true;
    const client = createFakeClient(({ path }) => {
      if (!isDown) return everything(path);
      isDown = false;
      return 0;
    });
    const found = await waitForInstalledKinds({ client, signal, log });
    expect(found?.map(({ kind }) => kind)).to.include("Ingress");
  });

  it("the controller waits for its own kinds, which may be created a moment later", async () => {
    let asked = 0;
    const client = createFakeClient(({ path }) => {
      if (!path.includes("svc-labs.dev")) return everything(path);
      asked += 1;
      return asked === 1 ? 404 : everything(path);
    });
    const found = await waitForInstalledKinds({ client, signal, log });
    expect(ownKinds).to.have.length.above(0);
    expect(found?.map(({ kind }) => kind)).to.include.members(ownKinds);
  });

  it("the controller continues without its own kinds after a while", async () => {
    const client = createFakeClient(({ path }) => (path.includes("svc-labs.dev") ? 404 : everything(path)));
    const found = await waitForInstalledKinds({ client, signal, log, ownKindsMs: 0 });
    expect(found?.map(({ kind }) => kind))
      .to.include("Ingress")
      .and.not.include.members(ownKinds);
  });

  it("the wait for installed kinds ends with the signal", async () => {
    const abort = new AbortController();
    const client = createFakeClient(() => {
      abort.abort();
      return 0;
    });
    expect(await waitForInstalledKinds({ client, signal: abort.signal, log })).to.equal(undefined);
  });
});

describe("pathOfObject", () => {
  it("the path of an object has its namespace where the API expects it", () => {
    const ingresses = {
      kind: "Ingress",
      apiVersion: "networking.k8s.io/v1",
      path: "/apis/networking.k8s.io/v1/ingresses",
    } as const;
    expect(pathOfObject(ingresses, "ns/a")).to.equal("/apis/networking.k8s.io/v1/namespaces/ns/ingresses/a");
    const namespaces = { kind: "Namespace", apiVersion: "v1", path: "/api/v1/namespaces" } as const;
    expect(pathOfObject(namespaces, "ns")).to.equal("/api/v1/namespaces/ns");
  });
});
