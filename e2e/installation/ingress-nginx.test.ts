import { join } from "node:path";
import { expect } from "chai";
import { stringify } from "yaml";
import { hasNginx } from "../../cli/test/ingress-nginx/nginx/process.ts";
import { namespace, release } from "../deploy/release.ts";
import { loadBalancerAddresses, proxyAddress, type ProxyAddress } from "../support/address.ts";
import { ask, call } from "../support/api.ts";
import { echoed, send, type Reply } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { recordTime, recordTraffic } from "../support/figures.ts";
import { oldAddress, statusAddresses, withOldController, writeOldStatus } from "../support/ingress-nginx.ts";
import { podsIn, waitUntilWhole } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { helm, root } from "../support/provider.ts";
import { useSandbox } from "../support/sandbox.ts";
import { describeFailures, startTraffic } from "../support/traffic.ts";

const test = "ingress-nginx";
const prefix = "nginx.ingress.kubernetes.io/";
const ingressClass = "/apis/networking.k8s.io/v1/ingressclasses";
const className = "e2e-nginx";

describe("an application of ingress-nginx moves to this gateway and back", () => {
  const sandbox = useSandbox(test);
  const host = `${sandbox.namespace}.example`;
  const names = ["api", "page"];
  const settings = ["--namespace", namespace, "--wait", "--timeout", "180s"];

  /**
   * Two Ingresses of one host. With ingress-nginx, a regular expression in one makes all paths of the host regular
   * expressions.
   */
  const ingresses = [
    ingress("api", { "rewrite-target": "/v2/$2" }, "/api(/|$)(.*)", "ImplementationSpecific"),
    ingress("page", { "proxy-body-size": "8k", "enable-cors": "true" }, "/", "Prefix"),
  ];

  function ingress(
    name: string,
    annotations: Readonly<Record<string, string>>,
    path: string,
    pathType: string,
  ): object {
    return {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: {
        name,
        annotations: Object.fromEntries(
          Object.entries(annotations).map(([key, value]) => [`${prefix}${key}`, value]),
        ),
      },
      spec: {
        ingressClassName: className,
        rules: [
          {
            host,
            http: {
              paths: [{ path, pathType, backend: { service: { name: "echo", port: { name: "http" } } } }],
            },
          },
        ],
      },
    };
  }

  /** Changes flags of the controllers as an operator does, by one value of the chart. */
  const setFlags = async (what: string, flags: Readonly<Record<string, string>>): Promise<void> => {
    const startedMs = performance.now();
    const values = Object.entries(flags).flatMap(([flag, value]) => [
      "--set-string",
      `controller.flags.${flag}=${value}`,
    ]);
    const chart = join(root, "config/chart");
    await helm(["upgrade", release, chart, "--reset-then-reuse-values", ...values, ...settings], {
      timeoutMs: 240_000,
    });
    await waitUntilWhole();
    recordTime(test, what, performance.now() - startedMs);
  };

  before(async function () {
    this.timeout(300_000);
    // Without a load balancer, this machine cannot reach pods either, which nginx has to.
    if (!hasNginx() || (await loadBalancerAddresses()).length === 0) this.skip();
    await ask(ingressClass, {
      method: "POST",
      body: {
        apiVersion: "networking.k8s.io/v1",
        kind: "IngressClass",
        metadata: { name: className },
        spec: { controller: "k8s.io/ingress-nginx" },
      },
    });
    await waitUntilWhole();
    await deployEcho(sandbox);
    await sandbox.apply(...ingresses);
    for (const name of names) await writeOldStatus(sandbox.namespace, name);
  });
  after(async () => {
    await call(`${ingressClass}/${className}`, { method: "DELETE" });
  });

  it("the move there and back loses no request, and every answer stays what it was", async function () {
    this.timeout(900_000);
    const pods = await podsIn(sandbox.namespace);
    const endpoints = pods.flatMap(({ status: { podIP } }) => (podIP === undefined ? [] : `${podIP}:8080`));
    await withOldController(ingresses.map((one) => stringify(one)).join("---\n"), endpoints, async (old) => {
      const here = await proxyAddress();
      /** The address to which external-dns would point the name. */
      let record: ProxyAddress = old;
      const follow = async (): Promise<void> => {
        const [address] = await statusAddresses(sandbox.namespace, "page");
        record = address === oldAddress ? old : here;
      };
      const following = setInterval(() => void follow().catch(() => undefined), 200);
      const traffic = await startTraffic({
        host,
        path: "/api/items",
        address: () => record,
        limitMs: 900_000,
      });
      try {
        await poll("traffic to flow", () => traffic.succeeded() > 10);
        const before = await answersAt(host, old);
        expect(before.map(({ status }) => status)).to.deep.equal([200, 200, 200, 413, 204]);

        await setFlags("served here as well, the status untouched", { "ingress-nginx-classes": className });
        await poll(
          "this gateway to serve the class",
          async () => (await answer(host, here, "/api/items")).status === 200,
        );
        expect(await answersAt(host, here)).to.deep.equal(before);
        expect(await statusAddresses(sandbox.namespace, "page")).to.deep.equal([oldAddress]);

        await setFlags("moved here", { "ingress-nginx-update-status": "true" });
        const addresses = await loadBalancerAddresses();
        await poll(
          "the status to lead here",
          async () => (await statusAddresses(sandbox.namespace, "page")).join() === addresses.join(),
        );
        await poll("the record to lead here", () => record === here);
        expect(await answersAt(host, here)).to.deep.equal(before);

        await setFlags("given back", { "ingress-nginx-update-status": "false" });
        for (const name of names) await writeOldStatus(sandbox.namespace, name);
        await poll("the record to lead back", () => record === old);
        const soFar = traffic.succeeded();
        await poll("traffic to flow", () => traffic.succeeded() > soFar + 40);

        await setFlags("no longer served here", { "ingress-nginx-classes": "" });
        await poll(
          "this gateway to serve it no longer",
          async () => (await answer(host, here, "/api/items")).status === 404,
        );
        expect(await answersAt(host, old)).to.deep.equal(before);
      } finally {
        clearInterval(following);
        const report = await traffic.stop();
        recordTraffic(test, report);
        expect(report.failed, describeFailures(report)).to.equal(0);
      }
    });
  });
});

const answer = (host: string, address: ProxyAddress, path: string, more: object = {}): Promise<Reply> =>
  send({ host, address, path, ...more });

type Seen = {
  readonly status: number;
  readonly path: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
};

/** The responses of some requests, as seen by the client and by the Service: statuses, paths, fields. */
async function answersAt(host: string, address: ProxyAddress): Promise<readonly Seen[]> {
  const replies = [
    await answer(host, address, "/api/items/1?x=%20y"),
    await answer(host, address, "/API/items/"),
    await answer(host, address, "/index.html", { headers: { origin: "https://a.example" } }),
    await answer(host, address, "/upload", { method: "POST", body: Buffer.alloc(8193) }),
    await answer(host, address, "/", { method: "OPTIONS", headers: { origin: "https://a.example" } }),
  ];
  return replies.map((reply) => ({
    status: reply.status,
    path: echoed(reply)?.path,
    host: echoed(reply)?.host,
    origin: reply.headers["access-control-allow-origin"],
  }));
}
