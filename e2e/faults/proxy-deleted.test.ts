import { expect } from "chai";
import { sendSlowly } from "../support/client.ts";
import { recordTime } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { deletePod, deploymentOf, nameOf, podsOf, readyPodsOf, waitForRollout } from "../support/pods.ts";
import { poll } from "../support/poll.ts";

describe("fault: a proxy is deleted under load", () => {
  const sandbox = useLoadedSandbox("proxy-deleted");

  it("no request is lost when a proxy is deleted, even a slow one in flight", async () => {
    await sandbox.withoutLoss(async () => {
      // Requests are spread over all proxies, and last longer than a proxy accepts connections after SIGTERM.
      const slow = Promise.all(
        Array.from({ length: 8 }, () =>
          sendSlowly({ host: sandbox.host, path: "/slow", durationMs: 12_000 }),
        ),
      );
      const [victim = ""] = await readyPodsOf("shared-proxy");
      const startedMs = performance.now();
      await deletePod(victim);
      // Traffic continues through all phases of the end of a proxy: not ready, still accepting, draining, removed.
      await poll(
        "the proxy to be removed",
        async () => !(await podsOf("shared-proxy")).map(nameOf).includes(victim),
        90_000,
      );
      recordTime("proxy-deleted", "drained and removed", performance.now() - startedMs);
      await waitForRollout(deploymentOf("shared-proxy"));
      expect(await slow).to.deep.equal(Array.from({ length: 8 }, () => 200));
    });
  });
});
