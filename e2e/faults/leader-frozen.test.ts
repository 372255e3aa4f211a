import { expectWithin } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { leaderName } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { prepareSignals, removeSignaller, signalPod } from "../support/signal.ts";

/** Proxies close a stream after ten seconds of silence. */
const servedLimitMs = 20_000;
/** The lease expires after fifteen seconds. */
const ledLimitMs = 20_000;

describe("fault: the leading controller is frozen", () => {
  const sandbox = useLoadedSandbox("leader-frozen");

  before(prepareSignals);
  after(removeSignaller);

  it("no request is lost while the leader is frozen, and a new route applies through the other replica", async () => {
    await sandbox.withoutLoss(async () => {
      const leader = (await leaderName()) ?? "";
      await signalPod(leader, "SIGSTOP");
      const frozenMs = performance.now();
      try {
        const host = await sandbox.applyRoute("while-frozen");
        await sandbox.waitUntilServed(host, 60_000);
        expectWithin(
          "leader-frozen",
          "new route served after the freeze",
          performance.now() - frozenMs,
          servedLimitMs,
        );
        await poll("another leader", async () => {
          const holder = await leaderName();
          return holder !== undefined && holder !== leader;
        });
        expectWithin("leader-frozen", "another leads", performance.now() - frozenMs, ledLimitMs);
      } finally {
        await signalPod(leader, "SIGCONT");
      }
    });
  });
});
