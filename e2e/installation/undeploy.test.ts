import { expect } from "chai";
import { namespace, undeploy } from "../deploy/release.ts";
import { listObjects, rememberedObjects } from "../support/objects.ts";
import { waitUntilWhole } from "../support/pods.ts";
import { poll } from "../support/poll.ts";

/** Removes the installation, so it runs last. */
describe("undeploy", () => {
  before(async function () {
    this.timeout(300_000);
    await waitUntilWhole();
  });

  it("undeploy leaves no object behind that did not exist before the installation", async function () {
    this.timeout(300_000);
    const remembered = rememberedObjects();
    // The gateway was installed before this run began.
    if (remembered === undefined) return this.skip();
    const before = new Set(remembered);
    const added = async (): Promise<readonly string[]> =>
      // Namespaces of other tests may still be terminating, and a new node creates its lease a moment late.
      (await listObjects()).filter(
        (name) => !before.has(name) && !/[ /]e2e-|leases kube-node-lease\//.test(name),
      );
    // If the list did not contain the present objects, its later result would prove nothing.
    expect((await added()).join("\n"))
      .to.include(`apps/v1/deployments ${namespace}/svc-controller`)
      .and.include("validatingadmissionpolicies")
      .and.include("clusterroles")
      .and.include("httproutes.gateway.networking.k8s.io");
    await undeploy();
    // The controllers of the cluster delete some objects a moment later, such as API services and addresses.
    await poll("nothing to be left", async () => {
      const left = await added();
      if (left.length > 0) throw new Error(left.join("\n"));
      return true;
    });
  });
});
