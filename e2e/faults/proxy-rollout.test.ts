import { recordTime } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { deploymentOf, isTerminating, podsOf, restart, waitForRollout } from "../support/pods.ts";
import { poll } from "../support/poll.ts";

describe("fault: a rolling update of the proxies under load", () => {
  const sandbox = useLoadedSandbox("proxy-rollout");

  it("no request is lost during a rollout of the proxies", async () => {
    const startedMs = performance.now();
    await sandbox.withoutLoss(async () => {
      await restart(deploymentOf("shared-proxy"));
      await waitForRollout(deploymentOf("shared-proxy"));
      await poll(
        "the old proxies to be removed",
        async () => !(await podsOf("shared-proxy")).some(isTerminating),
        90_000,
      );
    });
    recordTime("proxy-rollout", "rolled out", performance.now() - startedMs);
  });
});
