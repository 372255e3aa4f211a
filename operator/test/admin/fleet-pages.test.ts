import type { AdminAnswer } from "@svc-gateway/common/admin/admin-answer.ts";
import { expect } from "chai";
import { fleetRoutes } from "../../src/admin/fleet-pages.ts";
import type { ProxyPod } from "../../src/admin/proxy-pods.ts";
import type { FleetNode } from "../../src/discovery/fleet.ts";
import { defaultTranslateSettings } from "../../src/translate/settings.ts";
import { translate } from "../../src/translate/translate.ts";
import { createWorld } from "../../src/world.ts";
import { ingressManifest, svcClass } from "../support/manifests.ts";

const pod: ProxyPod = {
  name: "proxy-0",
  namespace: "svc-system",
  ip: "10.0.0.7",
  adminPort: 8082,
  component: "shared-proxy",
  gatewayRef: null,
  node: "node-1",
  phase: "Running",
  restarts: 1,
  createdAt: "2026-01-01T00:00:00Z",
};

const node: FleetNode = {
  nodeId: "proxy-0",
  identity: { namespace: "svc-system", serviceAccount: "svc-shared-proxy" },
  scope: { kind: "shared" },
  release: "1.0.0",
  health: "degraded",
  degradedChecks: ["routing_table_loaded"],
  boundPorts: [80],
  lastAckedVersion: "abc",
  isInSync: true,
  behindMs: 0,
  unknownFields: ["features.later"],
};

const translation = translate(
  createWorld([
    svcClass,
    ingressManifest("a", "a.example", ["/", "/api"]),
    ingressManifest("b", "b.example"),
  ]),
  defaultTranslateSettings,
);

function setUp(options: Partial<Parameters<typeof fleetRoutes>[0]> = {}) {
  const routes = fleetRoutes({
    pods: () => [pod],
    fleet: { node: (id) => (id === "proxy-0" ? node : undefined) },
    translation: () => translation,
    ...options,
  });
  const ask = async (path: string, podName: string = "", query: string = "") => {
    const route = routes.find((one) => one.path === path);
    const answer = (await route?.answer({
      params: { pod: podName },
      query: new URLSearchParams(query),
    })) as AdminAnswer;
    return { status: answer.status ?? 200, body: JSON.parse(answer.body) as Record<string, unknown> };
  };
  return {
    proxies: () => ask("/api/v1/fleet/proxies"),
    routes: (podName: string, query?: string) => ask("/api/v1/fleet/proxies/:pod/routes", podName, query),
  };
}

describe("fleetRoutes", () => {
  it("the fleet page lists proxy pods with what their stream reports", async () => {
    expect(await setUp().proxies()).to.deep.equal({
      status: 200,
      body: {
        proxies: [
          {
            pod_name: "proxy-0",
            pod_namespace: "svc-system",
            pod_ip: "10.0.0.7",
            admin_port: 8082,
            component: "shared-proxy",
            gateway_ref: null,
            node: "node-1",
            phase: "Running",
            restarts: 1,
            created_at: "2026-01-01T00:00:00Z",
            connected: true,
            health: "degraded",
            degraded_checks: ["routing_table_loaded"],
            last_acked_version: "abc",
            in_sync: true,
            unknown_fields: 1,
            unknown_field_names: ["features.later"],
          },
        ],
      },
    });
  });

  for (const [what, found] of [
    ["has no stream to this replica", undefined],
    [
      "has the name of a pod of another namespace",
      { ...node, identity: { ...node.identity, namespace: "x" } },
    ],
  ] as const) {
    it(`the stream facts of a pod are null when it ${what}`, async () => {
      const nodeOf = (_: string, namespace?: string) =>
        found?.identity.namespace === namespace ? found : undefined;
      const { body } = await setUp({ fleet: { node: nodeOf } }).proxies();
      const [proxy] = body["proxies"] as Record<string, unknown>[];
      expect(proxy).to.include({
        connected: null,
        health: null,
        degraded_checks: null,
        last_acked_version: null,
        in_sync: null,
        unknown_fields: null,
        unknown_field_names: null,
      });
    });
  }

  it("facts that a connected proxy has not reported yet are null", async () => {
    const silent: FleetNode = { ...node, health: undefined, lastAckedVersion: undefined, isInSync: false };
    const { body } = await setUp({ fleet: { node: () => silent } }).proxies();
    const [proxy] = body["proxies"] as Record<string, unknown>[];
    expect(proxy).to.include({ connected: true, health: null, last_acked_version: null, in_sync: false });
  });

  it("the routes page returns the whole routing table of a pod", async () => {
    const { status, body } = await setUp().routes("proxy-0");
    expect(status).to.equal(200);
    expect(Object.keys(body)).to.deep.equal(["pod_name", "routes"]);
    expect(body["pod_name"]).to.equal("proxy-0");
    const { ingress } = body["routes"] as { ingress: { hosts: { host: string }[] } };
    expect(new Set(ingress.hosts.map(({ host }) => host))).to.deep.equal(new Set(["a.example", "b.example"]));
  });

  it("the routes page returns only the routes that its query selects", async () => {
    const { body } = await setUp().routes(
      "proxy-0",
      "host=A.example&path=/api&namespace=ns&limit=1&offset=1",
    );
    expect(body).to.include({ total: 2, returned: 1, offset: 1 });
  });

  it("a limit above the maximum is lowered to the maximum", async () => {
    const { status, body } = await setUp().routes("proxy-0", "limit=5000");
    expect(status).to.equal(200);
    expect(body).to.include({ returned: 6 });
  });

  for (const query of ["limit=0", "limit=x", "limit=", "offset=-1", "offset=1.5", "limit=1&limit=0"]) {
    it(`the routes page answers 400 to the query ${query}`, async () => {
      const { status, body } = await setUp().routes("proxy-0", query);
      expect(status).to.equal(400);
      expect(body["error"]).to.be.a("string");
    });
  }

  it("the routes page answers 404 for an unknown pod", async () => {
    expect(await setUp().routes("proxy-1")).to.deep.equal({ status: 404, body: { error: "unknown pod" } });
  });

  it("the routes page answers 503 before the first routing table is built", async () => {
    expect((await setUp({ translation: () => undefined }).routes("proxy-0")).status).to.equal(503);
  });
});
