import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { ask } from "../support/api.ts";
import { send } from "../support/client.ts";
import { expectWithin } from "../support/figures.ts";
import { ingress } from "../support/ingress.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { metric } from "../support/metrics.ts";
import { readyPodsOf } from "../support/pods.ts";
import { provider, providerName } from "../support/provider.ts";
import { poll } from "../support/poll.ts";

const convergenceLimitMs = 10_000;
const cuts = 3;
const changesBetweenCuts = 10;
const changeEveryMs = 100;

describe("fault: watches are cut in mid-stream", () => {
  const sandbox = useLoadedSandbox("watch-cut");
  const path = `/apis/networking.k8s.io/v1/namespaces/${sandbox.namespace}/ingresses`;
  const hostOf = (name: string): string => `${name}.${sandbox.namespace}.example`;

  before(async function () {
    if ((await providerName()) === "kind") this.skip(); // kind has no way to cut connections of pods to its API server.
  });

  it("no change is missed while watches are cut", async function () {
    this.timeout(300_000);
    const controllers = await readyPodsOf("controller");
    const errors = (): Promise<readonly number[]> =>
      Promise.all(controllers.map((pod) => metric(pod, "svc_controller_watch_errors_total")));
    const errorsBefore = await errors();
    const kept: string[] = [];
    const toDelete: string[] = [];
    const deleted: string[] = [];
    const deleteOldest = async (): Promise<void> => {
      const name = toDelete.shift() ?? "";
      await ask(`${path}/${name}`, { method: "DELETE" });
      deleted.push(name);
    };

    await sandbox.withoutLoss(async () => {
      let isCutting = true;
      let changes = 0;
      // Changes are made before, during and after a cut; one of two routes is deleted again a little later.
      const changing = (async () => {
        for (let number = 0; isCutting; number += 1) {
          const name = `changing-${number}`;
          const body = ingress({ name, host: hostOf(name), paths: [{ service: "echo" }] });
          await ask(path, { method: "POST", body });
          (number % 2 === 0 ? kept : toDelete).push(name);
          changes += 1;
          if (toDelete.length > 2) await deleteOldest();
          await delay(changeEveryMs);
        }
        while (toDelete.length > 0) await deleteOldest();
      })();
      try {
        for (let cut = 0; cut < cuts; cut += 1) {
          const enough = changes + changesBetweenCuts;
          await poll(`${changesBetweenCuts} changes before a cut`, () => changes >= enough, 60_000);
          await provider("api-server", "cut");
        }
      } finally {
        isCutting = false;
        await changing;
      }
      const endedMs = performance.now();
      for (const [names, status] of [
        [kept, 200],
        [deleted, 404],
      ] as const) {
        for (const name of names) {
          await poll(
            `${name} to be answered with ${status}`,
            async () => (await send({ host: hostOf(name) })).status === status,
            60_000,
          );
        }
      }
      expectWithin("watch-cut", "converged", performance.now() - endedMs, convergenceLimitMs);
    });

    expect(kept.length).to.be.above(10);
    expect(deleted.length).to.be.above(10);
    expect(await readyPodsOf("controller")).to.have.members([...controllers]);
    for (const [index, count] of (await errors()).entries())
      expect(count).to.be.above(errorsBefore[index] ?? 0);
  });
});
