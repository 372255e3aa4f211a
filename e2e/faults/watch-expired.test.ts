import { expect } from "chai";
import { expectWithin } from "../support/figures.ts";
import { ask } from "../support/api.ts";
import { send } from "../support/client.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { metric } from "../support/metrics.ts";
import { readyPodsOf } from "../support/pods.ts";
import { provider, providerName } from "../support/provider.ts";
import { poll } from "../support/poll.ts";

const convergenceLimitMs = 10_000;

describe("fault: watches are cut and their resource version is compacted", () => {
  const sandbox = useLoadedSandbox("watch-expired");

  before(async function () {
    if ((await providerName()) === "kind") this.skip(); // kind has no access to its etcd.
  });
  after(async () => {
    if ((await providerName()) !== "kind") await provider("api-server", "heal");
  });

  it("no change is missed when the resource version of a watch has expired", async function () {
    this.timeout(300_000);
    const kept = await sandbox.applyRoute("kept");
    const deleted = await sandbox.applyRoute("deleted");
    await sandbox.waitUntilServed(kept, 10_000);
    await sandbox.waitUntilServed(deleted, 10_000);
    const controllers = await readyPodsOf("controller");
    const restarts = (): Promise<readonly number[]> =>
      Promise.all(
        controllers.map((pod) => metric(pod, "svc_controller_watch_events_total", { event: "restart" })),
      );
    const restartsBefore = await restarts();

    await sandbox.withoutLoss(async () => {
      // Disconnected controllers neither reconnect nor receive events until the history is compacted.
      await provider("api-server", "block");
      let created = "";
      try {
        await restartApiServer();
        created = await sandbox.applyRoute("created");
        await ask(`/apis/networking.k8s.io/v1/namespaces/${sandbox.namespace}/ingresses/deleted`, {
          method: "DELETE",
        });
        await provider("compact-etcd");
        // The watch cache of a new API server begins after the compaction.
        await restartApiServer();
      } finally {
        await provider("api-server", "heal");
      }
      const resumedMs = performance.now();
      await sandbox.waitUntilServed(created, 60_000);
      await poll(
        "the deleted route to be removed",
        async () => (await send({ host: deleted })).status === 404,
        60_000,
      );
      const tookMs = performance.now() - resumedMs;
      expect((await send({ host: kept })).status).to.equal(200);
      expectWithin("watch-expired", "converged", tookMs, convergenceLimitMs);
    });

    expect(await readyPodsOf("controller")).to.have.members([...controllers]);
    const restartsAfter = await restarts();
    for (const [index, count] of restartsAfter.entries())
      expect(count).to.be.above(restartsBefore[index] ?? 0);
  });
});

async function restartApiServer(): Promise<void> {
  await provider("api-server", "stop");
  await provider("api-server", "start");
}
