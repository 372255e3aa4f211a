import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import type { CaContent } from "../../src/discovery/ca-store.ts";
import { createKubernetesCaStore } from "../../src/keys/kubernetes-ca-store.ts";
import { createApiClient, type ApiClient } from "../../src/sources/kubernetes/api-client.ts";
import { startFakeCluster, type FakeCluster, type Stored } from "../sources/kubernetes/fake-cluster.ts";

const secrets = "/api/v1/secrets";
const configMaps = "/api/v1/configmaps";

const content: CaContent = { certificatePem: "cert", privateKeyPem: "key", retiredPem: "" };
const next: CaContent = { certificatePem: "cert2", privateKeyPem: "key2", retiredPem: "old" };

describe("createKubernetesCaStore", () => {
  let cluster: FakeCluster;
  let client: ApiClient;
  const store = () =>
    createKubernetesCaStore({
      client,
      namespace: "svc-system",
      secret: "svc-discovery-ca",
      log: silentLogger,
    });

  beforeEach(async () => {
    cluster = await startFakeCluster({ resources: {} });
    client = await createApiClient(cluster.config);
  });
  afterEach(async () => {
    await client.close();
    await cluster.close();
  });

  it("an empty store returns nothing, and later what was written", async () => {
    expect(await store().read()).to.deep.equal({ ok: true, value: undefined });
    expect(await store().write(content, undefined)).to.deep.equal({ ok: true, value: "written" });
    expect(await store().read()).to.deep.equal({ ok: true, value: content });
    const secret = cluster.get(secrets, "svc-system/svc-discovery-ca");
    expect(secret).to.include({ type: "Opaque" });
    expect(secret).to.deep.include({ data: { "tls.crt": "Y2VydA==", "tls.key": "a2V5" } });
  });

  it("a write replaces only the expected content", async () => {
    await store().write(content, undefined);
    expect(await store().write(next, undefined)).to.deep.equal({ ok: true, value: "conflict" });
    expect(await store().write(next, next)).to.deep.equal({ ok: true, value: "conflict" });
    expect(await store().write(next, content)).to.deep.equal({ ok: true, value: "written" });
    expect(await store().read()).to.deep.equal({ ok: true, value: next });
    expect(await store().write(content, next)).to.deep.equal({ ok: true, value: "written" });
    expect(await store().read(), "retired roots go").to.deep.equal({ ok: true, value: content });
  });

  it("the slower of two concurrent writes is a conflict", async () => {
    const results = await Promise.all([store().write(content, undefined), store().write(next, undefined)]);
    expect(results.map((result) => (result.ok ? result.value : "error")).sort()).to.deep.equal([
      "conflict",
      "written",
    ]);
    let isFirst = true;
    cluster.intercept = (request) => {
      if (request.method !== "PATCH" || !isFirst) return undefined;
      isFirst = false;
      return { status: 409, body: { reason: "Conflict" } };
    };
    const present = await store().read();
    const expected = present.ok ? present.value : undefined;
    expect(await store().write(content, expected)).to.deep.equal({ ok: true, value: "conflict" });
  });

  it("a write fills a Secret without certificate and key and keeps its other keys", async () => {
    cluster.put(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "svc-discovery-ca", namespace: "svc-system" },
      data: { note: "aGk=" },
    });
    expect(await store().read()).to.deep.equal({ ok: true, value: undefined });
    expect(await store().write(content, undefined)).to.deep.equal({ ok: true, value: "written" });
    const stored = cluster.get(secrets, "svc-system/svc-discovery-ca") as Stored & { data: object };
    expect(Object.keys(stored.data).sort()).to.deep.equal(["note", "tls.crt", "tls.key"]);
  });

  it("an unchanged trust bundle is not written again", async () => {
    const bundle = (): unknown =>
      (cluster.get(configMaps, "svc-system/svc-discovery-trust") as { data?: object } | undefined)?.data;
    expect((await store().publishTrust("roots")).ok).to.equal(true);
    expect(bundle()).to.deep.equal({ "ca.crt": "roots" });
    const writes = cluster.requests.filter((request) => !request.startsWith("GET")).length;
    await store().publishTrust("roots");
    expect(cluster.requests.filter((request) => !request.startsWith("GET"))).to.have.length(writes);
    await store().publishTrust("more roots");
    expect(bundle()).to.deep.equal({ "ca.crt": "more roots" });
  });

  it("an API server that fails is reported as a problem", async () => {
    cluster.intercept = () => ({ status: 500, body: { reason: "Boom", message: "no" } });
    for (const result of [
      await store().read(),
      await store().write(content, undefined),
      await store().publishTrust("roots"),
    ]) {
      expect(result.ok ? "" : result.error.message).to.equal("HTTP 500: Boom: no");
    }
  });

  it("the watch reports changes of the Secret and the trust bundle until it is stopped", async () => {
    let changes = 0;
    const stop = store().watch(() => changes++);
    await until(() => changes === 2, "both lists");
    await until(
      () => cluster.requests.filter((request) => request.includes("watch=true")).length === 2,
      "watches",
    );
    await store().write(content, undefined);
    await until(() => changes === 3, "the Secret");
    await store().publishTrust("roots");
    await until(() => changes === 4, "the bundle");
    cluster.remove(configMaps, "svc-system/svc-discovery-trust");
    await until(() => changes === 5, "the end of the bundle");
    cluster.put(secrets, {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "another", namespace: "svc-system" },
    });
    await store().write(next, content);
    await until(() => changes === 6, "the Secret again, and no other");
    stop();
  });
});
