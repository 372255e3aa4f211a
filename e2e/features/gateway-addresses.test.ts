import { expect } from "chai";
import { ask, find } from "../support/api.ts";
import { gateway, gatewayApi } from "../support/gateway-api.ts";
import { gatewayAt, isTrue, programmedAddress } from "../support/gateways.ts";
import { useSandbox } from "../support/sandbox.ts";
import { until } from "../support/until.ts";

type Address = { readonly value: string; readonly routability?: string };
type ServiceList = {
  readonly items: readonly { readonly spec: { readonly type: string; readonly clusterIP: string } }[];
};

describe("the addresses of Gateways", () => {
  const sandbox = useSandbox("gateway-addresses");
  const edge = (routability: string): object => gateway("edge", { addresses: [{ routability }] });
  const status = async () => (await gatewayAt(sandbox.namespace, "edge")).status;
  const addresses = async () => (await status())?.addresses as readonly Address[] | undefined;
  async function service(): Promise<ServiceList["items"][number] | undefined> {
    const labels = `gateway.networking.k8s.io/gateway-name=edge,gateway.svc-labs.dev/gateway-namespace=${sandbox.namespace}`;
    return (await ask<ServiceList>(`/api/v1/services?labelSelector=${encodeURIComponent(labels)}`)).items[0];
  }

  before(async function () {
    type Class = { readonly status?: { readonly supportedFeatures?: readonly { readonly name: string }[] } };
    const features =
      (await find<Class>(`/apis/${gatewayApi}/gatewayclasses/svc`))?.status?.supportedFeatures ?? [];
    if (!features.some(({ name }) => name === "GatewayAddressRoutabilityCluster")) this.skip();
    await sandbox.apply(edge("Cluster"));
  });

  it("a Gateway with the routability Cluster gets a ClusterIP address", async () => {
    await programmedAddress(sandbox.namespace, "edge");
    const { clusterIP = "", type } = (await service())?.spec ?? {};
    expect(type).to.equal("ClusterIP");
    expect(await addresses()).to.deep.equal([
      { type: "IPAddress", value: clusterIP, routability: "Cluster" },
    ]);
    expect(isTrue((await status())?.conditions, "AddressesAssigned")).to.equal(true);
  });

  it("a Gateway with an unknown routability is Programmed=False with AddressNotAssigned", async () => {
    await sandbox.apply(edge("example.com/Elsewhere"));
    await until("the condition", async () => {
      const conditions = (await status())?.conditions ?? [];
      return conditions.some(
        (one) => one.type === "Programmed" && one.status === "False" && one.reason === "AddressNotAssigned",
      );
    });
  });
});
