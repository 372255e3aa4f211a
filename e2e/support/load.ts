/** The setup of every fault test: a complete installation, a backend, and an Ingress that is served. */
import { expect } from "chai";
import { ask } from "./api.ts";
import { send } from "./client.ts";
import { deployEcho } from "./echo.ts";
import { recordTraffic } from "./figures.ts";
import { ingress } from "./ingress.ts";
import { waitUntilWhole } from "./pods.ts";
import { useSandbox, type Sandbox } from "./sandbox.ts";
import {
  describeFailures,
  startTraffic,
  type Traffic,
  type TrafficOptions,
  type TrafficReport,
} from "./traffic.ts";
import { poll } from "./poll.ts";

export type LoadedSandbox = Sandbox & {
  readonly host: string;
  /** Waits until the backend serves an Ingress of this host; returns the time that it took. */
  waitUntilServed(host: string, limitMs: number, path?: string): Promise<number>;
  /** Applies an Ingress with a host of its own for the backend, for all paths or one; returns the host. */
  applyRoute(name: string, path?: string): Promise<string>;
  /** Runs the fault during traffic, and fails if any request failed. */
  withoutLoss(
    fault: (traffic: Traffic) => Promise<void>,
    options?: Partial<TrafficOptions>,
  ): Promise<TrafficReport>;
};

/** Must be called inside `describe`. */
export function useLoadedSandbox(name: string): LoadedSandbox {
  const sandbox = useSandbox(name);
  // The domain is specific to this run, because objects of the previous one can take a while to disappear.
  const domain = `${sandbox.namespace}.example`;
  const host = `load.${domain}`;

  const waitUntilServed = async (of: string, limitMs: number, path = "/"): Promise<number> => {
    const expectServed = async (): Promise<true> => {
      const { status } = await send({ host: of, path, timeoutMs: 5_000 });
      if (status !== 200) throw new Error(`status ${status}`);
      return true;
    };
    return (await poll(`${of}${path} to be served`, expectServed, limitMs)).tookMs;
  };

  before(async function () {
    this.timeout(300_000);
    await waitUntilWhole();
    await deployEcho(sandbox);
    await sandbox.apply(ingress({ name: "load", host, paths: [{ service: "echo" }] }));
    // A preparation, not a figure: the cluster may still be recovering from the fault of the previous file.
    await waitUntilServed(host, 90_000);
  });

  return {
    ...sandbox,
    host,
    waitUntilServed,
    async applyRoute(route, path = "/") {
      const routeHost = `${route}.${domain}`;
      // Without kubectl, which takes longer on a busy machine than the time that is measured.
      await ask(`/apis/networking.k8s.io/v1/namespaces/${sandbox.namespace}/ingresses/${route}`, {
        method: "APPLY",
        body: ingress({ name: route, host: routeHost, paths: [{ path, service: "echo" }] }),
      });
      return routeHost;
    },
    async withoutLoss(fault, options = {}) {
      const traffic = await startTraffic({ host, ...options });
      let report: TrafficReport;
      try {
        await poll("traffic to flow", () => traffic.succeeded() > 10);
        await fault(traffic);
        const soFar = traffic.succeeded();
        await poll("traffic to flow after the fault", () => traffic.succeeded() > soFar + 10);
      } finally {
        report = await traffic.stop();
        recordTraffic(name, report);
      }
      expect(report.failed, describeFailures(report)).to.equal(0);
      return report;
    },
  };
}
