import { expect } from "chai";
import { namespace } from "../deploy/release.ts";
import { ask, find } from "../support/api.ts";
import { echoed, send } from "../support/client.ts";
import { gateway, gatewayApi, httpListener, httpRoute, needGatewayApi, to } from "../support/gateway-api.ts";
import { gatewayAt, programmedAddress } from "../support/gateways.ts";
import { poll } from "../support/poll.ts";
import { kubectl } from "../support/provider.ts";
import { eventsIn, useTenant, useVictim } from "../support/tenant.ts";

const controllerName = "svc-labs.dev/gateway-controller";
const classPath = `/apis/${gatewayApi}/gatewayclasses`;

type Meta = {
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly name: string }[];
  };
};

describe("a tenant with Gateways", () => {
  const tenant = useTenant("tenant-gateways");
  const victim = useVictim("tenant-gateways-victim");
  let victimAddress: string;
  const created: string[] = [];

  before(async function () {
    this.timeout(300_000);
    await needGatewayApi(this);
    await victim.apply(gateway("edge"), httpRoute("all", "edge", { rules: [{ backendRefs: to("victim") }] }));
    victimAddress = await programmedAddress(victim.namespace, "edge");
    await expectGatewayServed();
  });

  after(async () => {
    for (const name of created)
      await kubectl(["delete", "gatewayclass", name, "--wait=false", "--ignore-not-found"]);
  });

  const expectGatewayServed = async (): Promise<void> => {
    await poll("the Gateway of the victim", async () => {
      const reply = await send({ host: "any.example", gateway: victimAddress, timeoutMs: 5_000 });
      return echoed(reply)?.backend.includes("victim") === true;
    });
    await victim.expectServed();
  };

  const makeClass = async (name: string, spec: object = {}): Promise<void> => {
    created.push(name);
    await ask(`${classPath}/${name}`, {
      method: "APPLY",
      body: {
        apiVersion: gatewayApi,
        kind: "GatewayClass",
        metadata: { name },
        spec: { controllerName, ...spec },
      },
    });
  };
  const parameters = (name: string, spec: object = {}): object => ({
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "SvcGatewayParameters",
    metadata: { name },
    spec: { serviceType: "ClusterIP", ...spec },
  });
  const own = { group: "gateway.svc-labs.dev", kind: "SvcGatewayParameters", name: "own" };
  const pathOf = (name: string): string =>
    `/apis/${gatewayApi}/namespaces/${tenant.namespace}/gateways/${name}`;
  const listOf = async <T>(path: string): Promise<readonly (T & Meta)[]> =>
    (await ask<{ items: readonly (T & Meta)[] }>(path)).items;

  it("a pod template or infrastructure annotations cannot weaken the pod security of a proxy", async () => {
    const apparmor = "container.apparmor.security.beta.kubernetes.io/proxy";
    await tenant.apply(
      parameters("own", {
        podTemplate: {
          metadata: { annotations: { [apparmor]: "unconfined", ok: "yes" } },
          spec: {
            nodeName: "node-1",
            hostNetwork: true,
            volumes: [{ name: "host", hostPath: { path: "/" } }],
            containers: [
              { name: "proxy", securityContext: { privileged: true } },
              { name: "extra", image: "extra", securityContext: { privileged: true, procMount: "Unmasked" } },
            ],
          },
        },
      }),
      gateway("fence", {
        infrastructure: { annotations: { [apparmor]: "unconfined" }, parametersRef: own },
      }),
    );
    const path = `/apis/apps/v1/namespaces/${tenant.namespace}/deployments/fence-svc`;
    type Deployment = {
      readonly spec: { readonly template: { readonly metadata: object; readonly spec: object } };
    };
    const { value } = await poll("the Deployment", () => find<Deployment>(path));
    const text = JSON.stringify(value.spec.template);
    for (const bad of [
      "apparmor",
      "unconfined",
      "nodeName",
      "hostNetwork",
      "hostPath",
      'privileged":true',
      "procMount",
    ])
      expect(text, bad).to.not.include(bad);
    expect(text).to.include('"ok":"yes"');
    const { value: event } = await poll("the Event", async () =>
      (await eventsIn(tenant.namespace)).find(({ reason }) => reason === "PodTemplateSanitized"),
    );
    expect(event.note).to.include("spec.nodeName").and.include("infrastructure.annotations");
    await tenant.delete("gateway", "fence");
  });

  it("two Gateways whose names and classes concatenate to one name have separate service accounts", async () => {
    await tenant.apply(parameters("own"));
    await makeClass("e2e-b-c", {
      parametersRef: { ...own, namespace: tenant.namespace },
    });
    await makeClass("b-c", { parametersRef: { ...own, namespace: tenant.namespace } });
    await tenant.apply(gateway("a-e2e", { gatewayClassName: "b-c" }));
    await poll("the account of the first", async () =>
      (await accounts()).some(({ metadata }) => metadata.name === "a-e2e-b-c"),
    );
    // The API server counts the age of objects in seconds.
    await poll("another second", async () => {
      const { metadata } = await ask<Meta>(pathOf("a-e2e"));
      return Date.now() - Date.parse(metadata.creationTimestamp) >= 2_000;
    });
    await tenant.apply(gateway("a", { gatewayClassName: "e2e-b-c" }));
    await poll("two accounts", async () => (await accounts()).length === 2);
    const names = (await accounts()).map(({ metadata }) => [
      metadata.name,
      metadata.ownerReferences?.[0]?.name,
    ]);
    expect(names[0]).to.deep.equal(["a-e2e-b-c", "a-e2e"]);
    expect(names[1]?.[0]).to.match(/^a-e2e-b-c-[0-9a-f]{8}$/);
    expect(names[1]?.[1]).to.equal("a");
    const versions = async (): Promise<string> =>
      (await accounts()).map(({ metadata }) => metadata.resourceVersion).join();
    const before = await versions();
    // Long enough for two Gateways to overwrite each other; other Gateways are served meanwhile.
    for (let times = 0; times < 10; times++) await expectGatewayServed();
    expect(await versions()).to.equal(before);
    for (const name of ["a", "a-e2e"]) await tenant.delete("gateway", name);
  });

  const accounts = async (): Promise<readonly Meta[]> =>
    (await listOf(`/api/v1/namespaces/${tenant.namespace}/serviceaccounts`))
      .filter(({ metadata }) => metadata.name.startsWith("a-e2e-b-c"))
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

  it("a Gateway keeps being served when its class is deleted, and other tenants are unaffected", async () => {
    const name = `e2e-${tenant.namespace}`;
    const finalizer = "gateway-exists-finalizer.gateway.networking.k8s.io";
    await makeClass(name);
    await tenant.apply(gateway("kept", { gatewayClassName: name }));
    const address = await programmedAddress(tenant.namespace, "kept");
    // The nodes apply an address a moment after it appears on the Gateway.
    await poll("the address to answer", async () => {
      const reply = await send({ host: "any.example", gateway: address, timeoutMs: 5_000 });
      return reply.status === 404;
    });
    const classOf = (): Promise<Meta | undefined> => find<Meta>(`${classPath}/${name}`);
    await poll("the finalizer", async () => (await classOf())?.metadata.finalizers?.includes(finalizer));
    await kubectl(["delete", "gatewayclass", name, "--wait=false"]);
    await poll(
      "the class to be going",
      async () => (await classOf())?.metadata.deletionTimestamp !== undefined,
    );
    expect((await gatewayAt(tenant.namespace, "kept")).status?.addresses?.[0]?.value).to.equal(address);
    expect((await send({ host: "any.example", gateway: address })).status).to.equal(404);

    // Without its finalizer the class is deleted, but the Gateway is still served.
    await ask(`${classPath}/${name}`, { method: "PATCH", body: { metadata: { finalizers: null } } });
    await poll("the class to be deleted", async () => (await classOf()) === undefined);
    const { value } = await poll("the status to say so", async () =>
      (await gatewayAt(tenant.namespace, "kept")).status?.conditions?.find(
        ({ type, status }) => type === "Accepted" && status === "False",
      ),
    );
    expect(value.reason).to.equal("Invalid");
    expect((await send({ host: "any.example", gateway: address })).status).to.equal(404);
    await tenant.delete("gateway", "kept");
    await expectGatewayServed();
  });

  it("a finalizer on a Gateway delays only its own deletion", async () => {
    const held = gateway("held") as { readonly metadata: object };
    await tenant.apply({ ...held, metadata: { name: "held", finalizers: ["example.com/never"] } });
    await tenant.delete("gateway", "held");
    await expectGatewayServed();
    const path = pathOf("held");
    await ask(path, { method: "PATCH", body: { metadata: { finalizers: null } } });
    await poll("the Gateway to be deleted", async () => (await find(path)) === undefined);
  });

  it("listeners for every internal port take no port away from Gateways that have theirs", async function () {
    this.timeout(600_000);
    const count = 46;
    const many = (index: number): object =>
      gateway(`many-${index}`, {
        listeners: Array.from({ length: 64 }, (_, listener) =>
          httpListener(`l${listener}`, 10_000 + index * 64 + listener),
        ),
      });
    for (let index = 0; index < count; index++) await tenant.apply(many(index));
    // Either the internal ports are exhausted first, or the node ports of the cluster.
    await poll(
      "the ports to be used up, or all to be served",
      async () => {
        const events = await eventsIn(tenant.namespace);
        if (events.some(({ reason }) => reason === "InternalPortRangeExhausted")) return true;
        const { status } = await gatewayAt(tenant.namespace, `many-${count - 1}`);
        return status?.conditions?.some(({ type }) => type === "Programmed");
      },
      300_000,
    );
    await expectGatewayServed();
    for (let index = 0; index < count; index++) await tenant.delete("gateway", `many-${index}`);
    // Node ports are released with the Services.
    const ofTenant = encodeURIComponent(`gateway.svc-labs.dev/gateway-namespace=${tenant.namespace}`);
    await poll(
      "the Services to be deleted",
      async () =>
        (await listOf(`/api/v1/namespaces/${namespace}/services?labelSelector=${ofTenant}`)).length === 0,
      300_000,
    );
    await expectGatewayServed();
  });
});
