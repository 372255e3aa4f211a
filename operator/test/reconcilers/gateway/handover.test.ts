import { expect } from "chai";
import { createHandover } from "../../../src/reconcilers/gateway/handover.ts";
import type { Provisioned } from "../../../src/sources/kubernetes/provisioned-objects.ts";
import { addressesOf, buildOf, dedicatedGatewayYaml, dedicatedSettings, vipYaml } from "./support.ts";

const ownService = `
apiVersion: v1
kind: Service
metadata:
  name: edge-svc
  namespace: shop
  labels: { app.kubernetes.io/component: dedicated-proxy }
  annotations: { gateway.svc-labs.dev/controller-name: svc-labs.dev/gateway-controller }
  ownerReferences:
    - { apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, name: edge, uid: uid-edge, controller: true }
spec: { type: LoadBalancer, ports: [{ port: 80, targetPort: 80 }] }
status: { loadBalancer: { ingress: [{ ip: 192.0.2.9 }] } }
`;
const vip = vipYaml(30_000, "[{ ip: 192.0.2.7 }]");

type Facts = {
  readonly yaml?: string;
  readonly isProgrammed?: boolean;
  readonly readyReplicas?: number;
  readonly failure?: string;
};

function ask({ yaml = `${ownService}---${vip}`, isProgrammed = true, readyReplicas = 1, failure }: Facts) {
  const { world, translation } = buildOf(`${dedicatedGatewayYaml}---${yaml}`, {
    dedicated: dedicatedSettings,
  });
  const [status] = translation.gatewayStatuses.gateways;
  if (status === undefined) throw new Error("no Gateway");
  const scopes: unknown[] = [];
  const addresses = addressesOf();
  const handover = createHandover({
    fleet: {
      isProgrammed({ scope }) {
        scopes.push(scope);
        return isProgrammed;
      },
    },
    provisioned: {
      get: () => ({ kind: "Deployment", status: { readyReplicas } }) as unknown as Provisioned,
    },
    addressesOf: addresses,
    failures: { get: () => failure },
  });
  return {
    scopes,
    reason: handover.notReady(status)?.message,
    isDone: handover.isDone(status, world),
    present: addresses.present(status, world).addresses.map(({ value }) => value),
    target: addresses.target(status, world).addresses.map(({ value }) => value),
  };
}

describe("createHandover", () => {
  it("is done when a pod is ready, all proxies of the Gateway serve it, and its Service has an address", () => {
    const { isDone, scopes, present, target } = ask({});
    expect(isDone).to.equal(true);
    expect(scopes[0]).to.deep.equal({ kind: "dedicated", gateway: { namespace: "shop", name: "edge" } });
    // Until then clients are sent where they were.
    expect([present, target]).to.deep.equal([["192.0.2.7"], ["192.0.2.9"]]);
  });

  it("is not done while one of them is missing, and says which", () => {
    expect(ask({ readyReplicas: 0 })).to.deep.include({ isDone: false, reason: "No pod is ready" });
    expect(ask({ isProgrammed: false })).to.deep.include({
      isDone: false,
      reason: "Not all proxies serve the present configuration",
    });
    expect(ask({ yaml: vip }).isDone).to.equal(false);
    expect(ask({ failure: "the API server says no" }).reason).to.equal("the API server says no");
  });

  it("sends clients to the Gateway's own Service once the shared one is gone", () => {
    expect(ask({ yaml: ownService }).present).to.deep.equal(["192.0.2.9"]);
  });
});

describe("createGatewayAddressReader", () => {
  const read = (yaml: string, nodes: readonly string[] = [], refusals = new Map<string, string>()) => {
    const { world, translation } = buildOf(yaml, { dedicated: dedicatedSettings });
    const [status] = translation.gatewayStatuses.gateways;
    if (status === undefined) throw new Error("no Gateway");
    return addressesOf(nodes, refusals).present(status, world);
  };
  const withAddresses = (addresses: string, service = ownService): string =>
    `${dedicatedGatewayYaml.replace("gatewayClassName: svc", `gatewayClassName: svc\n  addresses: ${addresses}`)}---${service}`;

  it("gives the addresses of the nodes for a Service of type NodePort", () => {
    const yaml = `${dedicatedGatewayYaml}---${ownService.replace("type: LoadBalancer", "type: NodePort")}`;
    expect(read(yaml, ["192.0.2.1", "192.0.2.2"]).addresses.map(({ value }) => value)).to.deep.equal([
      "192.0.2.1",
      "192.0.2.2",
    ]);
  });

  it("refuses several addresses, and what the API server has refused, for good", () => {
    const several = read(withAddresses("[{ value: 10.96.0.7 }, { value: 10.96.0.8 }]"));
    expect(several.refusal?.reason).to.equal("AddressNotUsable");
    const refused = read(
      withAddresses("[{ value: 10.96.0.7 }]"),
      [],
      new Map([["shop/edge", "not in range"]]),
    );
    expect(refused.refusal).to.deep.equal({ reason: "AddressNotUsable", message: "not in range" });
  });

  it("waits for a requested address, and takes what comes without one", () => {
    expect(read(withAddresses("[{ value: 10.96.0.7 }]")).pending?.reason).to.equal("AddressNotAssigned");
    expect(read(withAddresses("[{ type: IPAddress }]")).addresses).to.have.length(1);
    expect(read(withAddresses("[{ type: Hostname, value: lb.example }]")).refusal?.reason).to.equal(
      "AddressNotUsable",
    );
  });
});
