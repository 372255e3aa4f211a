import { expect } from "chai";
import { useLoadedSandbox } from "../support/load.ts";
import { recordTime } from "../support/figures.ts";
import { podsIn, restart, waitForRollout } from "../support/pods.ts";
import { poll } from "../support/poll.ts";

describe("fault: a rolling update of the backends under load", () => {
  const sandbox = useLoadedSandbox("backend-rollout");

  it("no request is lost during a rollout of the backends, and every pod gets requests", async () => {
    const deployment = { namespace: sandbox.namespace, name: "echo" };
    const startedMs = performance.now();
    const report = await sandbox.withoutLoss(async () => {
      await restart(deployment);
      await waitForRollout(deployment);
      await poll("the old pods to be removed", async () => (await podsIn(sandbox.namespace)).length === 2);
    });
    recordTime("backend-rollout", "rolled out", performance.now() - startedMs);
    expect(report.backends.size).to.equal(4);
  });
});
