import { expect } from "chai";
import { useLoadedSandbox } from "../support/load.ts";
import { restart, waitForRollout } from "../support/pods.ts";

describe("fault: a rolling update of the backends under load", () => {
  const sandbox = useLoadedSandbox("backend-rollout");

  it("loses no request, and every pod takes part", async () => {
    const deployment = { namespace: sandbox.namespace, name: "echo" };
    const report = await sandbox.withoutLoss(async () => {
      await restart(deployment);
      await waitForRollout(deployment);
    });
    expect(report.backends.size).to.equal(4);
  });
});
