import { expect } from "chai";
import { send } from "../support/client.ts";
import { expectWithin, record } from "../support/figures.ts";
import { useLoadedSandbox } from "../support/load.ts";
import { metric } from "../support/metrics.ts";
import { isReady, nameOf, podsOf, readyPodsOf } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { prepareSignals, removeSignaller, signalPod } from "../support/signal.ts";

/** The longest time until the readiness probe of the chart fails and the nodes apply its result. */
const limitMs = 9_000;
/** The time without a failure after which new connections are considered to reach only other proxies. */
const quietMs = 4_000;
/** The liveness probe would end the proxy about 25 s after it stopped. */
const frozenMs = 20_000;
/** A request of a healthy proxy takes milliseconds. */
const requestTimeoutMs = 1_000;

describe("fault: a proxy is frozen", () => {
  const sandbox = useLoadedSandbox("proxy-frozen");

  before(prepareSignals);
  after(removeSignaller);

  it("new connections are lost only until the readiness of a frozen proxy fails, and it serves again after", async () => {
    const [victim = ""] = await readyPodsOf("shared-proxy");
    const isVictimReady = async (): Promise<boolean> =>
      (await podsOf("shared-proxy")).some((pod) => nameOf(pod) === victim && isReady(pod));
    const restarts = (): Promise<number> => metric(victim, "svc_proxy_worker_restarts_total");
    const before = await restarts();

    await signalPod(victim, "SIGSTOP");
    const frozenAtMs = performance.now();
    let lastFailureMs = 0;
    let sent = 0;
    let failed = 0;
    const underWay = new Set<Promise<void>>();
    const sendOne = async (): Promise<void> => {
      const sentMs = performance.now() - frozenAtMs;
      sent += 1;
      const isServed = await send({ host: sandbox.host, timeoutMs: requestTimeoutMs })
        .then(({ status }) => status === 200)
        .catch(() => false);
      if (isServed) return;
      failed += 1;
      lastFailureMs = Math.max(lastFailureMs, sentMs);
    };
    const timer = setInterval(() => {
      const one = sendOne().finally(() => underWay.delete(one));
      underWay.add(one);
    }, 100);
    try {
      await poll(
        "fresh connections to go to the other proxy",
        () => performance.now() - frozenAtMs - lastFailureMs > quietMs + requestTimeoutMs,
        frozenMs,
      );
      expect(await isVictimReady(), "the frozen proxy is ready").to.equal(false);
    } finally {
      clearInterval(timer);
      await signalPod(victim, "SIGCONT");
      await Promise.all(underWay);
    }
    record({ test: "proxy-frozen", what: "failed requests", value: `${failed} of ${sent}`, limit: "" });
    expectWithin("proxy-frozen", "no fresh connection is lost", lastFailureMs, limitMs);

    await poll("the proxy to be ready again", isVictimReady, 60_000);
    expect(await restarts(), "workers that were replaced").to.equal(before);
    await sandbox.withoutLoss(async (traffic) => {
      const soFar = traffic.succeeded();
      await poll("traffic through both proxies", () => traffic.succeeded() > soFar + 40);
    });
  });
});
