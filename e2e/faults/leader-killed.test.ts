import { expect } from "chai";
import { ask } from "../support/api.ts";
import { recordTime } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { leaderName } from "../support/pods.ts";
import { prepareSignals, removeSignaller, signalPod } from "../support/signal.ts";
import { until } from "../support/until.ts";

const routeLimitMs = 3_000;
const statusLimitMs = 19_000;

type Status = { readonly status: { readonly loadBalancer?: { readonly ingress?: readonly object[] } } };

describe("fault: the leading controller is killed", () => {
  const sandbox = useLoadedSandbox("leader-killed");

  before(prepareSignals);
  after(removeSignaller);

  it("loses no request, takes up a new route at once and writes statuses again", async () => {
    await sandbox.withoutLoss(async () => {
      const leader = (await leaderName()) ?? "";
      await signalPod(leader, "SIGKILL");
      const killedMs = performance.now();
      const host = await sandbox.applyRoute("after-kill");
      const servedMs = await sandbox.waitUntilServed(host, 30_000);
      recordTime("leader-killed", "new route served", servedMs, routeLimitMs);
      const path = `/apis/networking.k8s.io/v1/namespaces/${sandbox.namespace}/ingresses/after-kill`;
      await until(
        "the status of the new Ingress",
        async () => ((await ask<Status>(path)).status.loadBalancer?.ingress ?? []).length > 0,
        60_000,
      );
      const statusMs = performance.now() - killedMs;
      recordTime("leader-killed", "status written", statusMs, statusLimitMs);
      expect(servedMs).to.be.at.most(routeLimitMs);
      expect(statusMs).to.be.at.most(statusLimitMs);
    });
  });
});
