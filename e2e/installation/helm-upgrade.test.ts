import { join } from "node:path";
import { expect } from "chai";
import { namespace, release } from "../deploy/release.ts";
import { recordTime } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { listObjects } from "../support/objects.ts";
import { nameOf, podsOf, readyPodsOf, waitUntilWhole } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { helm, root } from "../support/provider.ts";

const test = "helm-upgrade";

/**
 * Objects that are created and deleted with pods, Services and releases; IP addresses some time after their Services.
 */
const passing =
  /\/(pods|replicasets|endpoints|endpointslices|ipaddresses|leases) |secrets \S+\/sh\.helm\.release/;

describe("a Helm upgrade and rollback", () => {
  const sandbox = useLoadedSandbox(test);
  const settings = ["--namespace", namespace, "--wait", "--timeout", "180s"];

  const lasting = async (): Promise<readonly string[]> =>
    (await listObjects()).filter((name) => !passing.test(name) && !/[ /]e2e-/.test(name));
  const allPods = async (): Promise<readonly string[]> =>
    [...(await podsOf("controller")), ...(await podsOf("shared-proxy"))].map(nameOf);

  /** Runs Helm, expects it to replace the pods, and expects the new ones to serve a new route. */
  const replacePods = async (what: string, args: readonly string[]): Promise<void> => {
    const before = await allPods();
    const startedMs = performance.now();
    await helm([...args, ...settings], { timeoutMs: 240_000 });
    await waitUntilWhole();
    recordTime(test, `${what}, the old pods removed`, performance.now() - startedMs);
    const now = [...(await readyPodsOf("controller")), ...(await readyPodsOf("shared-proxy"))];
    expect(now).to.have.length(4);
    expect(now.filter((name) => before.includes(name))).to.deep.equal([]);
    await sandbox.waitUntilServed(await sandbox.applyRoute(what), 30_000);
  };

  it("an upgrade and a rollback lose no request, replace every pod and keep all other objects", async function () {
    this.timeout(600_000);
    const before = await lasting();
    await sandbox.withoutLoss(async () => {
      await replacePods("upgrade", [
        ...["upgrade", release, join(root, "config/chart"), "--reset-then-reuse-values"],
        ...["--set-string", "controller.podAnnotations.e2e=upgraded"],
        ...["--set-string", "sharedProxy.podAnnotations.e2e=upgraded"],
      ]);
      await replacePods("rollback", ["rollback", release]);
    });
    await poll("the objects to be those that there were", async () => {
      const after = await lasting();
      const added = after.filter((name) => !before.includes(name));
      const removed = before.filter((name) => !after.includes(name));
      if (added.length + removed.length > 0)
        throw new Error(`added: ${added.join()}; removed: ${removed.join()}`);
      return true;
    });
  });
});
