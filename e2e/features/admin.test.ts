import { expect } from "chai";
import { askAdmin, leaderName, readiness, readyPodsOf, waitUntilWhole } from "../support/pods.ts";
import { metric } from "../support/metrics.ts";
import { until } from "../support/until.ts";

type Health = {
  readonly version: string;
  readonly subsystems: Readonly<
    Record<string, { readonly status: string; readonly checks: Readonly<Record<string, string>> }>
  >;
};

type FleetProxy = {
  readonly pod_name: string;
  readonly component: string;
  readonly connected: boolean | null;
  readonly in_sync: boolean | null;
};

describe("admin and health ports", () => {
  before(waitUntilWhole.bind(undefined, undefined));

  const healthOf = async (pod: string): Promise<Health> =>
    JSON.parse(await askAdmin(pod, "/api/v1/health")) as Health;

  it("the health endpoint of every controller reports it ready", async () => {
    const pods = await readyPodsOf("controller");
    expect(pods).to.have.length(2);
    for (const pod of pods) {
      const { subsystems } = await healthOf(pod);
      expect(Object.keys(subsystems)).to.deep.equal(["controller"]);
      expect(subsystems["controller"]?.status).to.equal("Ready");
      expect(Object.keys(subsystems["controller"]?.checks ?? {})).to.have.members([
        "gateway",
        "httproute",
        "ingress",
        "routing_table_built",
      ]);
      expect(await readiness(pod)).to.equal(200);
    }
  });

  it("the health endpoint of every proxy reports it ready", async () => {
    const pods = await readyPodsOf("shared-proxy");
    expect(pods).to.have.length(2);
    for (const pod of pods) {
      const { subsystems } = await healthOf(pod);
      expect(subsystems).to.deep.equal({
        proxy: { status: "Ready", checks: { routing_table_loaded: "Ready" } },
      });
    }
  });

  it("svc_controller_leader is 1 on exactly one controller, which holds the lease", async () => {
    const pods = await readyPodsOf("controller");
    const values = await Promise.all(pods.map((pod) => metric(pod, "svc_controller_leader")));
    expect(values.filter((value) => value === 1)).to.have.length(1);
    expect(pods[values.indexOf(1)]).to.equal(await leaderName());
  });

  it("the fleet endpoint of the leader lists every proxy as in sync", async () => {
    const proxies = await readyPodsOf("shared-proxy");
    const leader = (await leaderName()) ?? "";
    const { value } = await until("every proxy to be in sync", async () => {
      const fleet = JSON.parse(await askAdmin(leader, "/api/v1/fleet/proxies")) as {
        proxies: readonly FleetProxy[];
      };
      return fleet.proxies.every(({ in_sync }) => in_sync === true) && fleet.proxies;
    });
    expect(value.map(({ pod_name }) => pod_name)).to.have.members([...proxies]);
    expect(new Set(value.map(({ component }) => component))).to.deep.equal(new Set(["shared-proxy"]));
    expect(await metric(leader, "svc_discovery_connected_proxies")).to.equal(proxies.length);
  });

  it("controllers show the routes of a proxy, and proxies do not", async () => {
    const [proxy = ""] = await readyPodsOf("shared-proxy");
    const leader = (await leaderName()) ?? "";
    const page = JSON.parse(await askAdmin(leader, `/api/v1/fleet/proxies/${proxy}/routes`)) as object;
    expect(page).to.include.keys("pod_name", "routes");
    expect(await askAdmin(leader, "/api/v1/fleet/proxies/unknown/routes")).to.include("unknown pod");
    expect(await askAdmin(proxy, "/api/v1/fleet/proxies")).to.not.include("pod_name");
  });
});
