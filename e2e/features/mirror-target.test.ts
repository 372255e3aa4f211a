import { expect } from "chai";
import { send } from "../support/client.ts";
import { covers } from "../support/covers.ts";
import { deployEcho } from "../support/echo.ts";
import { ingress } from "../support/ingress.ts";
import { metric } from "../support/metrics.ts";
import { readyPodsOf } from "../support/pods.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

describe("mirror-target", () => {
  const sandbox = useSandbox("mirror-target");
  covers("mirror-target");
  const host = "mirror-target.e2e.example";
  /** A Service whose only endpoint accepts no connections. */
  const dead: readonly object[] = [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "dead" },
      spec: { ports: [{ name: "http", port: 80 }] },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "dead-1", labels: { "kubernetes.io/service-name": "dead" } },
      addressType: "IPv4",
      ports: [{ name: "http", port: 80, protocol: "TCP" }],
      // TEST-NET-1 (RFC 5737): nothing answers there.
      endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready: true } }],
    },
  ];

  const copies = async (service: string): Promise<number> => {
    const counts = (await readyPodsOf("shared-proxy")).map((pod) =>
      metric(pod, "svc_proxy_mirror_requests_total", { upstream: `${sandbox.namespace}/${service}` }),
    );
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  const mirrorTo = (service: string): Promise<void> =>
    sandbox.apply(
      ingress({
        name: "mirrored",
        host,
        annotations: { "mirror-target": `${service}.${sandbox.namespace}:80` },
        paths: [{ service: "echo" }],
      }),
    );

  before(async () => {
    await deployEcho(sandbox, { replicas: 1 });
    await deployEcho(sandbox, { name: "copy", replicas: 1 });
    await sandbox.apply(...dead);
    await mirrorTo("copy");
    await until("a copy of a request", async () => {
      await send({ host });
      return (await copies("copy")) > 0;
    });
  });

  it("mirror-target: each request is copied with its body, and answered from the backend", async () => {
    const before = await copies("copy");
    for (let i = 0; i < 10; i++) {
      const reply = await send({ host, method: "POST", body: "hello" });
      expect([reply.status, reply.headers["echo-backend"]?.toString().startsWith("echo-")]).to.deep.equal([
        200,
        true,
      ]);
    }
    // Copies of earlier requests may still be added to the count.
    await until("ten copies", async () => (await copies("copy")) >= before + 10);
  });

  it("mirror-target: requests are served while the mirror does not respond", async () => {
    await mirrorTo("dead");
    await until("the dead mirror to be used", async () => {
      await send({ host });
      return (await copies("dead")) > 0;
    });
    for (let i = 0; i < 10; i++) expect((await send({ host, timeoutMs: 4_000 })).status).to.equal(200);
  });

  it("mirror-target: requests are served without copies when the Service does not exist", async () => {
    await mirrorTo("none");
    await until("no more copies", async () => {
      const before = await copies("dead");
      await send({ host });
      return (await copies("dead")) === before;
    });
    expect((await send({ host })).status).to.equal(200);
  });
});
