import { expect } from "chai";
import type { EchoAnswer } from "../../scripts/echo/backend.ts";
import { ask, find } from "../support/api.ts";
import { echoed, send } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, gatewayApi, httpRoute, needGatewayApi, to } from "../support/gateway-api.ts";
import { askAdmin, leaderName } from "../support/pods.ts";
import { poll } from "../support/poll.ts";
import { kubectl } from "../support/provider.ts";
import { useSandbox } from "../support/sandbox.ts";

type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
};
type GatewayObject = {
  readonly metadata: { readonly finalizers?: readonly string[] };
  readonly status?: {
    readonly addresses?: readonly { readonly value: string }[];
    readonly conditions?: readonly Condition[];
  };
};
type Uid = { readonly metadata: { readonly uid: string } };
type Deployment = { readonly spec: { readonly replicas: number } };
type Fleet = {
  readonly proxies: readonly {
    readonly pod_name: string;
    readonly component: string;
    readonly gateway_ref: string | null;
    readonly in_sync: boolean | null;
  }[];
};
type RoutesPage = {
  readonly routes: { readonly [group: string]: { readonly hosts: readonly { readonly host: string }[] } };
};

describe("Gateways with dedicated proxies", () => {
  const sandbox = useSandbox("dedicated");
  const host = "dedicated.e2e.example";

  const parameters = (spec: object) => ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "SvcGatewayParameters",
    metadata: { name: "own" },
    spec,
  });
  const edge = (isDedicated: boolean): object => {
    const parametersRef = { group: "gateway.svc-labs.dev", kind: "SvcGatewayParameters", name: "own" };
    return gateway("edge", isDedicated ? { infrastructure: { labels: { team: "e2e" }, parametersRef } } : {});
  };
  const pathOf = (base: string, plural: string, name: string): string =>
    `${base}/namespaces/${sandbox.namespace}/${plural}/${name}`;
  const gatewayPath = (): string => pathOf(`/apis/${gatewayApi}`, "gateways", "edge");
  const deploymentPath = (): string => pathOf("/apis/apps/v1", "deployments", "edge-svc");
  const servicePath = (): string => pathOf("/api/v1", "services", "edge-svc");

  const conditionOf = async (type: string): Promise<Condition | undefined> =>
    (await ask<GatewayObject>(gatewayPath())).status?.conditions?.find((one) => one.type === type);

  const echoAt = async (address: string): Promise<EchoAnswer | undefined> =>
    echoed(await send({ host, gateway: address, timeoutMs: 5_000 }));

  const addressOf = async (): Promise<string | undefined> =>
    (await ask<GatewayObject>(gatewayPath())).status?.addresses?.[0]?.value;

  /** The address at which the Gateway is currently served. */
  const served = async (): Promise<string> => {
    const { value } = await poll("the Gateway to serve", async () => {
      const address = await addressOf();
      return address !== undefined && (await echoAt(address)) !== undefined && address;
    });
    return value;
  };

  before(async function () {
    await needGatewayApi(this);
    await deployEcho(sandbox, { name: "web", replicas: 1 });
    await sandbox.apply(
      edge(true),
      httpRoute("web", "edge", { hostnames: [host], rules: [{ backendRefs: to("web") }] }),
    );
  });

  it("a Gateway with missing parameters is InvalidParameters, and gets its proxies once they exist", async () => {
    await poll("the refusal", async () => (await conditionOf("Accepted"))?.reason === "InvalidParameters");
    expect(await find(deploymentPath())).to.equal(undefined);
    await sandbox.apply(parameters({ replicas: 1 }));
    await served();
    await poll(
      "the condition",
      async () => (await conditionOf("gateway.svc-labs.dev/DedicatedProxyReady"))?.status === "True",
    );
    await poll("Programmed", async () => (await conditionOf("Programmed"))?.status === "True");
  });

  it("a dedicated proxy is in the fleet, with the routes of its Gateway only", async () => {
    const page = async <T>(path: string): Promise<T> => {
      const leader = await leaderName();
      if (leader === undefined) throw new Error("there is no leader");
      return JSON.parse(await askAdmin(leader, path)) as T;
    };
    const { value: proxy } = await poll("the proxy in the fleet", async () => {
      const { proxies } = await page<Fleet>("/api/v1/fleet/proxies");
      return proxies.find(
        (one) =>
          one.component === "dedicated-proxy" &&
          one.gateway_ref === `${sandbox.namespace}/edge` &&
          one.in_sync === true,
      );
    });
    const { routes } = await page<RoutesPage>(`/api/v1/fleet/proxies/${proxy.pod_name}/routes`);
    expect(routes["ingress"]?.hosts).to.deep.equal([]);
    expect(routes["gateway"]?.hosts.map((one) => one.host)).to.have.members(["*", host]);
  });

  it("a changed or deleted object of a dedicated proxy is restored", async () => {
    const inNamespace = ["--namespace", sandbox.namespace];
    await kubectl([...inNamespace, "scale", "deployment/edge-svc", "--replicas=0"]);
    await poll(
      "the number of pods",
      async () => (await ask<Deployment>(deploymentPath())).spec.replicas === 1,
    );
    const uid = async (): Promise<string | undefined> => (await find<Uid>(servicePath()))?.metadata.uid;
    const before = await uid();
    await kubectl([...inNamespace, "delete", "service", "edge-svc", "--wait=false"]);
    await poll("another Service", async () => {
      const now = await uid();
      return now !== undefined && now !== before;
    });
    await served();
  });

  it("a Gateway moves to the shared proxies and back without being unavailable", async () => {
    for (const isDedicated of [false, true]) {
      const before = await served();
      let failures = 0;
      let isMoved = false;
      const watch = (async () => {
        // Clients use the address in the status, as if resolved by a name server.
        while (!isMoved) {
          const address = (await addressOf()) ?? before;
          if ((await echoAt(address).catch(() => undefined)) !== undefined) continue;
          // A client may have read the address just before it changed.
          if ((await addressOf()) === address) failures++;
        }
      })();
      await sandbox.apply(edge(isDedicated));
      await poll("the other proxies", async () => {
        const isThere = (await find(deploymentPath())) !== undefined;
        const condition = await conditionOf("gateway.svc-labs.dev/DedicatedProxyReady");
        const isReady = isDedicated ? condition?.status === "True" : condition === undefined;
        return isReady && isThere === isDedicated && (await addressOf()) !== before;
      });
      await served();
      isMoved = true;
      await watch;
      expect(failures).to.be.below(5);
    }
  });

  it("a deleted Gateway leaves no object of its dedicated proxies behind", async () => {
    expect((await ask<GatewayObject>(gatewayPath())).metadata.finalizers).to.include(
      "gateway.svc-labs.dev/dedicated-cleanup",
    );
    await sandbox.delete("gateway", "edge");
    await poll("the Gateway to go", async () => (await find(gatewayPath())) === undefined);
    expect(await find(deploymentPath())).to.equal(undefined);
    expect(await find(servicePath())).to.equal(undefined);
    await poll(
      "the trust bundle to go",
      async () => (await find(pathOf("/api/v1", "configmaps", "svc-discovery-trust"))) === undefined,
    );
  });
});
