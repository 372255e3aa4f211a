import { ask } from "../support/api.ts";
import { expectWithin } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { deletePod, leaderName } from "../support/pods.ts";
import { poll } from "../support/poll.ts";

const limitMs = 3_000;

type Status = { readonly status: { readonly loadBalancer?: { readonly ingress?: readonly object[] } } };

describe("fault: the leader receives SIGTERM", () => {
  const sandbox = useLoadedSandbox("leader-stopped");

  it("no request is lost when the leader ends, and the other replica takes over at once", async () => {
    await sandbox.withoutLoss(async () => {
      const leader = (await leaderName()) ?? "";
      await deletePod(leader);
      const signalledMs = performance.now();
      await poll("another leader", async () => {
        const holder = await leaderName();
        return holder !== undefined && holder !== leader;
      });
      const ledMs = performance.now() - signalledMs;
      const host = await sandbox.applyRoute("after-stop");
      const appliedMs = performance.now();
      const servedMs = await sandbox.waitUntilServed(host, 30_000);
      const path = `/apis/networking.k8s.io/v1/namespaces/${sandbox.namespace}/ingresses/after-stop`;
      await poll(
        "the status of the new Ingress",
        async () => ((await ask<Status>(path)).status.loadBalancer?.ingress ?? []).length > 0,
      );
      const statusMs = performance.now() - appliedMs;
      expectWithin("leader-stopped", "another leads", ledMs, limitMs);
      expectWithin("leader-stopped", "new route served", servedMs, limitMs);
      expectWithin("leader-stopped", "status written", statusMs, limitMs);
    });
  });
});
