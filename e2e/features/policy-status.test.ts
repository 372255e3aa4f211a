import { expect } from "chai";
import { ask } from "../support/api.ts";
import { ingress } from "../support/ingress.ts";
import { kubectl } from "../support/provider.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

type Condition = { readonly type: string; readonly status: string; readonly reason: string };
type Entry = {
  readonly conditions: readonly Condition[];
  readonly usedBy: { readonly count: number; readonly summary: string };
};
type Policy = { readonly status?: { readonly controllers?: readonly Entry[] } };
describe("statuses of policies", () => {
  const sandbox = useSandbox("policy-status");
  const host = "policy-status.e2e.example";
  const own = (kind: string, name: string, spec: object): object => ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind,
    metadata: { name },
    spec,
  });
  const pathOf = (plural: string): string =>
    `/apis/gateway.svc-labs.dev/v1alpha1/namespaces/${sandbox.namespace}/${plural}`;
  const entryOf = async (plural: string, name: string): Promise<Entry | undefined> =>
    (await ask<Policy>(`${pathOf(plural)}/${name}`)).status?.controllers?.[0];
  const conditionsOf = async (plural: string, name: string): Promise<readonly string[]> =>
    ((await entryOf(plural, name))?.conditions ?? []).map(
      ({ type, status, reason }) => `${type}=${status} ${reason}`,
    );

  before(async () => {
    await sandbox.apply(
      own("RateLimit", "slow", { requestsPerSecond: 1000 }),
      own("RateLimit", "nothing", {}),
      own("BasicAuth", "users", { secretRef: { name: "absent" } }),
      ingress({
        name: "limited",
        host,
        annotations: { "rate-limit": `${sandbox.namespace}/slow` },
        paths: [{ service: "absent" }],
      }),
    );
  });

  it("the status of a policy names the Ingress that uses it", async () => {
    await until("the user", async () => (await entryOf("ratelimits", "slow"))?.usedBy.count === 1);
    expect((await entryOf("ratelimits", "slow"))?.usedBy.summary).to.equal("Ingress limited");
    expect(await conditionsOf("ratelimits", "slow")).to.deep.equal(["Accepted=True Accepted"]);
  });

  it("the status of a policy says what is wrong with it, and with what it refers to", async () => {
    await until("a status", async () => (await conditionsOf("ratelimits", "nothing")).length > 0);
    await until("a status", async () => (await conditionsOf("basicauths", "users")).length > 0);
    expect(await conditionsOf("ratelimits", "nothing")).to.deep.equal(["Accepted=False Invalid"]);
    expect(await conditionsOf("basicauths", "users")).to.deep.equal([
      "Accepted=True Accepted",
      "ResolvedRefs=False InvalidRef",
    ]);
  });

  it("kubectl get shows the users of a policy and whether it is accepted", async () => {
    await until("the user", async () => (await entryOf("ratelimits", "slow"))?.usedBy.count === 1);
    const { namespace } = sandbox;
    const output = await kubectl(["--namespace", namespace, "get", "ratelimits", "slow", "--output", "wide"]);
    const [header = "", row = ""] = output.split("\n");
    expect(header.split(/ {2,}/)).to.include.members(["USED BY", "ACCEPTED", "USERS"]);
    expect(row).to.match(/ 1 +True +Ingress limited /);
  });
});
