import { expect } from "chai";
import { ask } from "../support/api.ts";
import { echoed, send, type Reply } from "../support/client.ts";
import { deployEcho } from "../support/echo.ts";
import { gateway, gatewayApi, httpRoute, needGatewayApi, to } from "../support/gateway-api.ts";
import { gatewayAt, isTrue, programmedAddress, type Condition } from "../support/gateways.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

type RouteObject = {
  readonly status?: { readonly parents?: readonly { readonly conditions: readonly Condition[] }[] };
};
type ServiceList = {
  readonly items: readonly {
    readonly spec: { readonly ports: readonly { readonly port: number; readonly targetPort: number }[] };
  }[];
};

describe("Gateways of the shared proxies", () => {
  const sandbox = useSandbox("gateway");
  const host = "gateway.e2e.example";

  /** A route of the Gateway with the same name. */
  const route = (name: string, rules: readonly object[]): object =>
    httpRoute(name, name, { hostnames: [host], rules });
  const objectAt = <T>(plural: string, name: string): Promise<T> =>
    ask<T>(`/apis/${gatewayApi}/namespaces/${sandbox.namespace}/${plural}/${name}`);
  const programmed = (name: string): Promise<string> => programmedAddress(sandbox.namespace, name);

  const get = (address: string, path: string, name = host): Promise<Reply> =>
    send({ host: name, gateway: address, path });
  const backendAt = async (address: string, path: string): Promise<string | undefined> =>
    echoed(await get(address, path))?.backend.split("-")[0];

  before(async function () {
    await needGatewayApi(this);
    await Promise.all([
      deployEcho(sandbox, { name: "web", replicas: 1 }),
      deployEcho(sandbox, { name: "api", replicas: 1 }),
    ]);
    await sandbox.apply(
      gateway("one"),
      gateway("two"),
      route("one", [
        { backendRefs: to("web") },
        { matches: [{ path: { value: "/api" } }], backendRefs: to("api") },
        { matches: [{ path: { value: "/broken" } }], backendRefs: to("missing") },
      ]),
      route("two", [{ backendRefs: to("api") }]),
    );
  });

  it("a Gateway gets an address of its own, at which its routes are served", async () => {
    const address = await programmed("one");
    await until("the route", () => backendAt(address, "/"));
    expect(await backendAt(address, "/")).to.equal("web");
    expect(await backendAt(address, "/api/x")).to.equal("api");
    expect((await get(address, "/broken")).status).to.equal(500);
    expect((await get(address, "/", "other.e2e.example")).status).to.equal(404);
  });

  it("two Gateways with the same hosts and ports serve their own routes", async () => {
    const [one, two] = await Promise.all([programmed("one"), programmed("two")]);
    expect(one).to.not.equal(two);
    await until("the route", async () => (await backendAt(two, "/")) === "api");
    expect(await backendAt(one, "/")).to.equal("web");
  });

  it("the status counts attached routes, and the route reports BackendNotFound", async () => {
    const { value } = await until("attachedRoutes", async () => {
      const [listener] = (await gatewayAt(sandbox.namespace, "one")).status?.listeners ?? [];
      return listener?.attachedRoutes === 1 && listener;
    });
    expect(isTrue(value.conditions, "Accepted") && isTrue(value.conditions, "Programmed")).to.equal(true);
    const { value: conditions } = await until("the status of the route", async () => {
      const [parent] = (await objectAt<RouteObject>("httproutes", "one")).status?.parents ?? [];
      return parent?.conditions;
    });
    expect(conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)).to.have.members([
      "Accepted=True Accepted",
      "ResolvedRefs=False BackendNotFound",
    ]);
  });

  it("a deleted Gateway leaves no Service behind", async () => {
    await programmed("two");
    const services = async (): Promise<ServiceList["items"]> => {
      const selector = `gateway.svc-labs.dev/gateway-namespace=${sandbox.namespace},gateway.networking.k8s.io/gateway-name=two`;
      const path = `/api/v1/namespaces/svc-system/services?labelSelector=${encodeURIComponent(selector)}`;
      return (await ask<ServiceList>(path)).items;
    };
    const [service] = await services();
    expect(service?.spec.ports[0]?.targetPort).to.be.within(30_000, 32_767);
    await sandbox.delete("gateway", "two");
    await until("the Service to go", async () => (await services()).length === 0);
  });
});
