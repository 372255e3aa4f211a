import { useLoadedSandbox } from "../support/load.ts";
import { deletePod, deploymentOf, nameOf, podsOf, readyPodsOf, waitForRollout } from "../support/pods.ts";
import { until } from "../support/until.ts";

describe("fault: a proxy is deleted under load", () => {
  const sandbox = useLoadedSandbox("proxy-deleted");

  it("loses no request", async () => {
    await sandbox.withoutLoss(async () => {
      const [victim = ""] = await readyPodsOf("shared-proxy");
      await deletePod(victim);
      // Traffic flows through all of its end: not ready, accepting still, draining, gone.
      await until(
        "the proxy to be gone",
        async () => !(await podsOf("shared-proxy")).map(nameOf).includes(victim),
        90_000,
      );
      await waitForRollout(deploymentOf("shared-proxy"));
    });
  });
});
