import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { call } from "../support/api.ts";
import { send } from "../support/client.ts";
import { expectWithin } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { waitUntilWhole } from "../support/pods.ts";
import { provider } from "../support/provider.ts";
import { until } from "../support/until.ts";

const outageMs = 60_000;
const convergenceLimitMs = 10_000;

describe("fault: the API server is stopped for a minute", () => {
  const sandbox = useLoadedSandbox("api-server-stopped");

  after(async function () {
    this.timeout(180_000);
    if (await isAnswering()) return;
    await provider("api-server", "start");
    await waitUntilWhole();
  });

  it("no request and no route is lost while the API server is down, and a change applies within ten seconds after", async function () {
    this.timeout(300_000);
    const routes = await Promise.all(["one", "two", "three"].map((name) => sandbox.applyRoute(name)));
    for (const host of routes) await sandbox.waitUntilServed(host, 10_000);

    await sandbox.withoutLoss(
      async () => {
        await provider("api-server", "stop");
        const stoppedMs = performance.now();
        let refused = 0;
        // Requests every route continuously: an incomplete table would lack some of them.
        while (performance.now() - stoppedMs < outageMs) {
          for (const host of routes) if ((await send({ host })).status !== 200) refused += 1;
          await delay(250);
        }
        await provider("api-server", "start");
        const backMs = performance.now();
        const host = await sandbox.applyRoute("after-outage");
        while (performance.now() - backMs < convergenceLimitMs) {
          for (const route of routes) if ((await send({ host: route })).status !== 200) refused += 1;
          if ((await send({ host })).status === 200) break;
          await delay(100);
        }
        await sandbox.waitUntilServed(host, 60_000);
        const tookMs = performance.now() - backMs;
        expect(refused, "requests to routes that were there all the time").to.equal(0);
        expectWithin("api-server-stopped", "converged", tookMs, convergenceLimitMs);
      },
      { requestsPerSecond: 20, limitMs: 240_000 },
    );

    for (const host of routes) {
      await until(`${host} to be served by every proxy`, async () => (await send({ host })).status === 200);
    }
  });
});

const isAnswering = (): Promise<boolean> =>
  call("/readyz").then(
    ({ status }) => status === 200,
    () => false,
  );
