/** A tenant that attempts everything in its namespace, and a victim in another namespace that must not be affected. */
import { expect } from "chai";
import { ask } from "./api.ts";
import { echoed, send } from "./client.ts";
import { deployEcho } from "./echo.ts";
import { ingress } from "./ingress.ts";
import { kubectl, tryKubectl } from "./provider.ts";
import type { Ran } from "./run-program.ts";
import { useSandbox, type Sandbox } from "./sandbox.ts";
import { until } from "./until.ts";

export type Tenant = Sandbox & {
  /** Applies as the tenant, not as the user of the tests. */
  readonly apply: Sandbox["apply"];
  readonly tryApply: Sandbox["tryApply"];
  try(args: readonly string[], input?: string): Promise<Ran>;
};

export type Victim = Sandbox & {
  readonly host: string;
  /** Fails unless the victim's own backend answers. */
  expectServed(): Promise<void>;
};

const rbac = "rbac.authorization.k8s.io";

/**
 * The permissions of tenants in addition to the role `edit`: all kinds that this gateway reads, including
 * EndpointSlices.
 */
const rights = [
  {
    apiGroups: ["gateway.networking.k8s.io", "gateway.svc-labs.dev", "ingress.svc-labs.dev"],
    resources: ["*"],
    verbs: ["*"],
  },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["*"] },
];

/**
 * A namespace with a ServiceAccount that has ordinary permissions in it, and nowhere else. Must be called inside
 * `describe`.
 */
export function useTenant(name: string): Tenant {
  const sandbox = useSandbox(name);
  const { namespace } = sandbox;
  const user = `system:serviceaccount:${namespace}:tenant`;
  const as = ["--as", user, "--namespace", namespace];
  const applyArgs = [...as, "apply", "--server-side", "--force-conflicts", "--filename", "-"];
  const list = (items: readonly object[]): { readonly input: string } => ({
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
  });
  before(async () => {
    const subjects = [{ kind: "ServiceAccount", name: "tenant", namespace }];
    const bind = (kind: "ClusterRole" | "Role", role: string): object => ({
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: { name: role },
      roleRef: { apiGroup: rbac, kind, name: role },
      subjects,
    });
    await sandbox.apply(
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "tenant" } },
      { apiVersion: `${rbac}/v1`, kind: "Role", metadata: { name: "gateway-tenant" }, rules: rights },
      bind("Role", "gateway-tenant"),
      bind("ClusterRole", "edit"),
    );
  });
  return {
    ...sandbox,
    async apply(...objects) {
      await kubectl(applyArgs, list(objects));
    },
    tryApply: (...objects) => tryKubectl(applyArgs, list(objects)),
    try: (args, input) => tryKubectl([...as, ...args], input === undefined ? {} : { input }),
  };
}

/** A namespace with a backend and a host of its own. Must be called inside `describe`. */
export function useVictim(name: string): Victim {
  const sandbox = useSandbox(name);
  const host = `${sandbox.namespace}.example`;
  before(async function () {
    this.timeout(300_000);
    // While proxies use all processors, which they are allowed to, the kernel gives almost no CPU to pods without a
    // request.
    await deployEcho(sandbox, { name: "victim", replicas: 1, cpuRequest: "20m" });
    await sandbox.apply(ingress({ name: "victim", host, paths: [{ service: "victim" }] }));
    await until("the victim to be served", async () => (await send({ host })).status === 200);
  });
  return {
    ...sandbox,
    host,
    async expectServed() {
      const reply = await send({ host, path: "/own" });
      expect(reply.status, reply.body.slice(0, 200)).to.equal(200);
      expect(echoed(reply)?.backend, "the backend that answered").to.include("victim");
    },
  };
}

/** A Service without pods, and an EndpointSlice with the addresses of its endpoints. */
export const serviceAt = (
  name: string,
  address: string,
  port: number,
  { spec = {}, protocol = "TCP" }: { readonly spec?: object; readonly protocol?: "TCP" | "UDP" } = {},
): readonly object[] => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ name: "http", port: 80, targetPort: port, protocol }], ...spec },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port, protocol }],
    endpoints: [{ addresses: [address] }],
  },
];

type Event = {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
};

/** The Events of a namespace. */
export const eventsIn = async (namespace: string): Promise<readonly Event[]> =>
  (await ask<{ items: readonly Event[] }>(`/apis/events.k8s.io/v1/namespaces/${namespace}/events`)).items;
