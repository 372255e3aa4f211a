import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import {
  findInstalledKinds,
  pathOfObject,
  waitForInstalledKinds,
} from "../../../src/sources/kubernetes/installed-kinds.ts";
import { createOutageLog } from "../../../src/sources/kubernetes/outage-log.ts";
import { createFakeClient, type FakeClient } from "../../runtime/fake-client.ts";

const serving = (served: Readonly<Record<string, readonly string[]>>): FakeClient =>
  createFakeClient(({ path }) => {
    const plurals = served[path];
    return plurals === undefined ? 404 : { resources: plurals.map((name) => ({ name })) };
  });

describe("findInstalledKinds", () => {
  it("names what is served, in the preferred version of those served, and asks once for each group version", async () => {
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

  it("is an error when the server cannot be asked: a kind must not look missing", async () => {
    const client = createFakeClient(({ path }) => (path === "/apis/networking.k8s.io/v1" ? 503 : 404));
    const found = await findInstalledKinds(client);
    expect(found.ok ? 0 : found.error.status).to.equal(503);
  });
});

describe("waitForInstalledKinds", () => {
  it("asks until the server answers", async () => {
    let isDown = true;
    const client = createFakeClient(() => {
      if (!isDown) return { resources: [{ name: "services" }] };
      isDown = false;
      return 0;
    });
    const outage = createOutageLog(silentLogger, "API server");
    const found = await waitForInstalledKinds(client, new AbortController().signal, outage);
    expect(found?.map(({ kind }) => kind)).to.deep.equal(["Service"]);
  });

  it("gives up with the signal", async () => {
    const abort = new AbortController();
    const client = createFakeClient(() => {
      abort.abort();
      return 0;
    });
    const outage = createOutageLog(silentLogger, "API server");
    expect(await waitForInstalledKinds(client, abort.signal, outage)).to.equal(undefined);
  });
});

describe("pathOfObject", () => {
  it("puts the namespace where the API has it", () => {
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
