import { expect } from "chai";
import { expectWithin } from "../support/figures.ts";
import { send } from "../support/client.ts";
import { useLoadedSandbox } from "../support/load.ts";
import {
  deletePod,
  deploymentOf,
  isTerminating,
  nameOf,
  podsOf,
  readiness,
  readyPodsOf,
  scale,
  waitUntilWhole,
} from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { areInSync } from "../support/until.ts";

const convergenceLimitMs = 10_000;
/**
 * The limit for the end of a proxy: five seconds of accepting connections, and the rest of requests in flight; far
 * below the 45 s of the pod.
 */
const endLimitMs = 20_000;

describe("fault: no controller is running", () => {
  const sandbox = useLoadedSandbox("controllers-down");

  after(async () => {
    await scale(deploymentOf("controller"), 2);
    await waitUntilWhole();
  });

  it("proxies continue to serve without controllers, new ones stay unready, and all converge afterwards", async () => {
    await sandbox.withoutLoss(async () => {
      await scale(deploymentOf("controller"), 0);
      await poll("no controller", async () => (await podsOf("controller")).length === 0, 60_000);

      const before = await readyPodsOf("shared-proxy");
      const [victim = ""] = before;
      await deletePod(victim);
      const deletedMs = performance.now();
      const removal = poll(
        "the deleted proxy to be removed",
        async () => !(await podsOf("shared-proxy")).map(nameOf).includes(victim),
      ).then(() => performance.now() - deletedMs);
      removal.catch(() => undefined);
      const { value: fresh } = await poll("a proxy in its place", async () =>
        (await podsOf("shared-proxy")).find(
          (pod) =>
            !before.includes(nameOf(pod)) &&
            !isTerminating(pod) &&
            pod.status.containerStatuses?.[0]?.started === true,
        ),
      );
      // A proxy without a snapshot must not get traffic: it is not ready.
      expect(await readiness(nameOf(fresh))).to.equal(503);
      const host = await sandbox.applyRoute("meanwhile");
      expect((await send({ host })).status).to.equal(404);
      expect(await readiness(nameOf(fresh))).to.equal(503);

      await scale(deploymentOf("controller"), 2);
      await poll("a ready controller", async () => (await readyPodsOf("controller")).length > 0, 60_000);
      const backMs = performance.now();
      await sandbox.waitUntilServed(host, 60_000);
      const servedMs = performance.now() - backMs;
      await poll("the new proxy to be ready", async () => (await readiness(nameOf(fresh))) === 200, 60_000);
      const readyMs = performance.now() - backMs;
      const staying = (await podsOf("shared-proxy")).filter((pod) => !isTerminating(pod)).map(nameOf);
      await poll("every proxy to be in sync with the leader", () => areInSync(staying), 60_000);
      const syncedMs = performance.now() - backMs;
      expectWithin("controllers-down", "change served", servedMs, convergenceLimitMs);
      expectWithin("controllers-down", "new proxy ready", readyMs, convergenceLimitMs);
      expectWithin("controllers-down", "every proxy in sync with the leader", syncedMs, convergenceLimitMs);
      expectWithin(
        "controllers-down",
        "a proxy that was deleted meanwhile is removed",
        await removal,
        endLimitMs,
      );
    });
  });
});
