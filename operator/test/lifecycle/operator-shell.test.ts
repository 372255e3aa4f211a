import type { ResourceEvent } from "@dot-i/k8s-operator";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { expect } from "chai";
import { until } from "../../../common/test/until.ts";
import { createOperatorShell, type OperatorShell } from "../../src/lifecycle/operator-shell.ts";
import { createApiClient } from "../../src/sources/kubernetes/api-client.ts";
import { startFakeCluster, type FakeCluster } from "../sources/kubernetes/fake-cluster.ts";

const pods = "/api/v1/pods";
const pod = (name: string, label: string = "a"): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "svc-system", labels: { label } },
});

/** Starts an operator that watches pods, and records the events that it receives. */
async function start(cluster: FakeCluster, onEvent: (text: string) => void = () => {}) {
  const client = await createApiClient(cluster.config);
  const heard: string[] = [];
  let shell: OperatorShell | undefined;
  let watching: Promise<void> = Promise.resolve();
  const operator = createOperatorShell({
    config: cluster.config,
    client,
    log: silentLogger,
    init(given) {
      shell = given;
      watching = given.watch(
        { group: "", version: "v1", plural: "pods", namespace: "svc-system" },
        ({ type, meta }: ResourceEvent) => {
          heard.push(`${type} ${meta.name}`);
          onEvent(meta.name);
          return Promise.resolve();
        },
      );
      return Promise.resolve();
    },
  });
  await operator.start();
  return {
    heard,
    isStopped: () => shell?.signal.aborted,
    async stop() {
      operator.stop();
      await watching;
      await client.close();
    },
  };
}

describe("createOperatorShell", () => {
  let cluster: FakeCluster;
  beforeEach(async () => (cluster = await startFakeCluster({ resources: {} })));
  afterEach(() => cluster.close());

  it("the operator runs init on start and aborts its signal on stop", async () => {
    const operator = await start(cluster);
    expect(operator.isStopped()).to.equal(false);
    await operator.stop();
    expect(operator.isStopped()).to.equal(true);
  });

  it("existing objects, changes and deletions are reported one after the other", async () => {
    cluster.put(pods, pod("a"));
    const operator = await start(cluster);
    await until(() => operator.heard.length === 1, "a");
    cluster.put(pods, pod("b"));
    cluster.put(pods, pod("b", "b"));
    cluster.remove(pods, "svc-system/a");
    cluster.put(pods, { ...pod("c"), metadata: { name: "c", namespace: "elsewhere" } });
    await until(() => operator.heard.length === 4, "three changes");
    expect(operator.heard).to.deep.equal(["ADDED a", "ADDED b", "MODIFIED b", "DELETED a"]);
    await operator.stop();
  });

  it("no deletion is missed while the API server fails", async () => {
    cluster.put(pods, pod("a"));
    cluster.put(pods, pod("b"));
    const operator = await start(cluster);
    await until(() => operator.heard.length === 2, "both");
    cluster.intercept = () => ({ status: 500, body: {} });
    cluster.cutWatches();
    const failedAt = cluster.requests.length;
    await until(() => cluster.requests.length > failedAt, "another try");
    cluster.remove(pods, "svc-system/a");
    cluster.compact();
    cluster.intercept = () => undefined;
    await until(() => operator.heard.length === 3, "the deletion");
    expect(operator.heard.at(-1), "and nothing twice").to.equal("DELETED a");
    await operator.stop();
  });

  it("the watch continues after a callback that throws", async () => {
    cluster.put(pods, pod("a"));
    cluster.put(pods, pod("b"));
    const operator = await start(cluster, (name) => {
      if (name === "a") throw new Error("from the test");
    });
    await until(() => operator.heard.length === 2, "both");
    await operator.stop();
  });
});
