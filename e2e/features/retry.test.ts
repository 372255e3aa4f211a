import { expect } from "chai";
import { ask } from "../support/api.ts";
import { echoed, send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

type EndpointSlices = {
  readonly items: readonly { readonly endpoints?: readonly { readonly addresses: readonly string[] }[] }[];
};

describe("retry", () => {
  const sandbox = useSandbox("retry");
  covers("retry");
  const host = "retry.e2e.example";
  const withoutHost = "no-retry.e2e.example";
  const wholeHost = "whole.retry.e2e.example";

  /** A Service without selector, one of whose two endpoints refuses connections. */
  const halfBroken = (ip: string): readonly object[] => {
    const slice = (name: string, port: number): object => ({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name, labels: { "kubernetes.io/service-name": "half" } },
      addressType: ip.includes(":") ? "IPv6" : "IPv4",
      ports: [{ name: "http", port, protocol: "TCP" }],
      endpoints: [{ addresses: [ip], conditions: { ready: true } }],
    });
    const service = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "half" },
      spec: { ports: [{ name: "http", port: 80 }] },
    };
    return [service, slice("half-up", 8080), slice("half-down", 9)];
  };

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    const { value: ip } = await until("the address of the echo pod", async () => {
      const { items } = await ask<EndpointSlices>(
        `/apis/discovery.k8s.io/v1/namespaces/${sandbox.namespace}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Decho`,
      );
      return items[0]?.endpoints?.[0]?.addresses[0];
    });
    const policy = {
      apiVersion: "gateway.svc-labs.dev/v1alpha1",
      kind: "RetryPolicy",
      metadata: { name: "once" },
      spec: { attempts: 1 },
    };
    const annotations = { retry: `${sandbox.namespace}/once` };
    const paths = [{ service: "half" }];
    await sandbox.apply(...halfBroken(ip), policy);
    await sandbox.apply(
      ingress({ name: "with", host, annotations, paths }),
      ingress({ name: "without", host: withoutHost, paths }),
      ingress({ name: "whole", host: wholeHost, annotations, paths: [{ service: "echo" }] }),
    );
    for (const served of [host, withoutHost, wholeHost]) {
      await until(`${served} to be served`, async () => (await send({ host: served })).status === 200);
    }
    await until("both endpoints", async () => (await send({ host: withoutHost })).status === 502);
  });

  const statuses = async (given: Parameters<typeof send>[0]): Promise<readonly number[]> => {
    const found = new Set<number>();
    for (let i = 0; i < 20; i++) found.add((await send(given)).status);
    return [...found].sort((a, b) => a - b);
  };

  it("retry: an endpoint that refuses connections is not noticed, even with request bodies", async () => {
    expect(await statuses({ host })).to.deep.equal([200]);
    const reply = await send({ host, method: "POST", body: "hello" });
    expect(echoed(reply)?.body).to.equal("hello");
    expect(await statuses({ host, method: "POST", body: "hello" })).to.deep.equal([200]);
  });

  it("retry: requests are not retried without the annotation", async () => {
    expect(await statuses({ host: withoutHost })).to.deep.equal([200, 502]);
  });

  it("retry: a persistent status and one that is not listed are passed on", async () => {
    expect(await statuses({ host: wholeHost, path: "/?status=503" })).to.deep.equal([503]);
    expect(await statuses({ host: wholeHost, path: "/?status=500" })).to.deep.equal([500]);
  });
});
