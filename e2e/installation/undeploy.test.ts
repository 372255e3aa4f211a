import { expect } from "chai";
import { namespace, undeploy } from "../deploy/release.ts";
import { find } from "../support/api.ts";
import { kubectl } from "../support/provider.ts";
import { waitUntilWhole } from "../support/pods.ts";

/** Everything that does not live in a namespace, but nodes and the namespaces of tests that are going. */
const clusterKinds = [
  "clusterroles",
  "clusterrolebindings",
  "customresourcedefinitions",
  "ingressclasses",
  "mutatingwebhookconfigurations",
  "priorityclasses",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "validatingwebhookconfigurations",
];

const ours = /svc-(system|gateway|labs|controller|shared-proxy)|\bsvc\b|gateway\.networking\.k8s\.io/;

/** Takes the installation away, so it runs last. */
describe("undeploy", () => {
  const leftovers = async (): Promise<readonly string[]> => {
    const names = await kubectl(["get", clusterKinds.join(","), "--output", "name"]);
    return names.split("\n").filter((name) => ours.test(name));
  };

  before(async function () {
    this.timeout(300_000);
    await waitUntilWhole();
  });

  it("leaves nothing behind", async function () {
    this.timeout(300_000);
    // The question finds what is there now, or its later answer would mean nothing.
    expect((await leftovers()).join("\n"))
      .to.include("validatingadmissionpolicy")
      .and.include("clusterrole");
    await undeploy();
    expect(await leftovers()).to.deep.equal([]);
    expect(await find(`/api/v1/namespaces/${namespace}`)).to.equal(undefined);
  });
});
