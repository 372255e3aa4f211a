import { expect } from "chai";
import { ask } from "../support/api.ts";
import { send } from "../support/client.ts";
import { expectWithin } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { metric } from "../support/metrics.ts";
import { leaderName, readyPodsOf } from "../support/pods.ts";
import { prepareSignals, removeSignaller, killPod } from "../support/signal.ts";
import { poll } from "../support/poll.ts";

const routeLimitMs = 3_000;
const statusLimitMs = 19_000;

type Status = { readonly status: { readonly loadBalancer?: { readonly ingress?: readonly object[] } } };

describe("fault: the leading controller is killed", () => {
  const sandbox = useLoadedSandbox("leader-killed");

  before(prepareSignals);
  after(removeSignaller);

  it("no request is lost when the leader is killed, and the other replica applies a route and writes statuses", async () => {
    const host = await sandbox.applyRoute("changed", "/before");
    await sandbox.waitUntilServed(host, 30_000, "/before");
    const leader = (await leaderName()) ?? "";
    const other = (await readyPodsOf("controller")).find((pod) => pod !== leader) ?? "";
    const acknowledged = (): Promise<number> => metric(other, "svc_discovery_acks_total");
    const before = await acknowledged();

    await sandbox.withoutLoss(async () => {
      await killPod(leader);
      const killedMs = performance.now();
      await sandbox.applyRoute("changed", "/after");
      const servedMs = await sandbox.waitUntilServed(host, 30_000, "/after");
      // The other proxy may be updated a moment later.
      await poll(
        "the old path to be removed",
        async () => (await send({ host, path: "/before" })).status === 404,
      );
      expect(await acknowledged(), "updates that the other replica brought").to.be.above(before);
      await sandbox.applyRoute("after-kill");
      const path = `/apis/networking.k8s.io/v1/namespaces/${sandbox.namespace}/ingresses/after-kill`;
      await poll(
        "the status of the new Ingress",
        async () => ((await ask<Status>(path)).status.loadBalancer?.ingress ?? []).length > 0,
        60_000,
      );
      const statusMs = performance.now() - killedMs;
      expectWithin("leader-killed", "changed route served", servedMs, routeLimitMs);
      expectWithin("leader-killed", "statuses written again", statusMs, statusLimitMs);
    });
  });
});
