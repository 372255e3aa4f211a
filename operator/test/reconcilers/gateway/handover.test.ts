import { expect } from "chai";
import { createHandover } from "../../../src/reconcilers/gateway/handover.ts";
import type { Provisioned } from "../../../src/sources/kubernetes/provisioned-objects.ts";
import {
  addressesOf,
  buildOf,
  dedicatedGatewayYaml,
  dedicatedSettings,
  gatewayYaml,
  vipYaml,
} from "./support.ts";

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
  it("a handover is done when a pod is ready, all dedicated proxies serve the Gateway, and its Service has an address", () => {
    const { isDone, scopes, present, target } = ask({});
    expect(isDone).to.equal(true);
    expect(scopes[0]).to.deep.equal({ kind: "dedicated", gateway: { namespace: "shop", name: "edge" } });
    // Until then clients are sent where they were.
    expect([present, target]).to.deep.equal([["192.0.2.7"], ["192.0.2.9"]]);
  });

  it("a handover is not done while a condition is missing, and the reason names it", () => {
    expect(ask({ readyReplicas: 0 })).to.deep.include({
      isDone: false,
      reason: "No pod of the Deployment is ready yet",
    });
    expect(ask({ isProgrammed: false })).to.deep.include({
      isDone: false,
      reason: "Not all dedicated proxies serve the latest configuration yet",
    });
    expect(ask({ yaml: vip }).isDone).to.equal(false);
    expect(ask({ failure: "the API server says no" }).reason).to.equal("the API server says no");
  });

  it("clients are sent to the Gateway's own Service once the shared Service is deleted", () => {
    expect(ask({ yaml: ownService }).present).to.deep.equal(["192.0.2.9"]);
  });
});

describe("createGatewayAddressReader", () => {
  const read = (
    yaml: string,
    nodes: readonly string[] = [],
    refusals = new Map<string, string>(),
    hasRoutability = false,
  ) => {
    const { world, translation } = buildOf(yaml, { dedicated: dedicatedSettings });
    const [status] = translation.gatewayStatuses.gateways;
    if (status === undefined) throw new Error("no Gateway");
    return addressesOf(nodes, refusals, hasRoutability).present(status, world);
  };
  const withAddresses = (addresses: string, service = ownService): string =>
    `${dedicatedGatewayYaml.replace("gatewayClassName: svc", `gatewayClassName: svc\n  addresses: ${addresses}`)}---${service}`;

  it("the addresses of a NodePort Service are those of the nodes", () => {
    const yaml = `${dedicatedGatewayYaml}---${ownService.replace("type: LoadBalancer", "type: NodePort")}`;
    expect(read(yaml, ["192.0.2.1", "192.0.2.2"]).addresses.map(({ value }) => value)).to.deep.equal([
      "192.0.2.1",
      "192.0.2.2",
    ]);
  });

  it("the address of a Service that has the name of a Gateway's Service but was not created for it is not reported", () => {
    const uncreated = ownService
      .replace(/ {2}(labels|annotations): .*\n/g, "")
      .replace(/ {2}ownerRef.*\n.*\n/, "");
    for (const service of [uncreated, ownService.replace("uid: uid-edge", "uid: uid-before")]) {
      const { addresses, pending } = read(`${dedicatedGatewayYaml}---${service}`);
      expect(addresses).to.deep.equal([]);
      expect(pending?.reason).to.equal("AddressNotAssigned");
    }
    expect(read(`${gatewayYaml}---${vip}`).addresses).to.have.length(1);
    for (const [label, other] of [
      ["component: shared-gateway-vip", "component: database"],
      ["gateway-name: edge", "gateway-name: other"],
      ["gateway-namespace: shop", "gateway-namespace: blog"],
    ] as const) {
      const { addresses, pending } = read(`${gatewayYaml}---${vip.replace(label, other)}`);
      expect(addresses, other).to.deep.equal([]);
      expect(pending?.reason).to.equal("AddressNotAssigned");
    }
  });

  it("several requested addresses and an address that the API server rejects are refused permanently", () => {
    const several = read(withAddresses("[{ value: 10.96.0.7 }, { value: 10.96.0.8 }]"));
    expect(several.refusal?.reason).to.equal("AddressNotUsable");
    const refused = read(
      withAddresses("[{ value: 10.96.0.7 }]"),
      [],
      new Map([["shop/edge", "not in range"]]),
    );
    expect(refused.refusal).to.deep.equal({ reason: "AddressNotUsable", message: "not in range" });
  });

  it("a requested address is waited for, and any address satisfies a request without a value", () => {
    expect(read(withAddresses("[{ value: 10.96.0.7 }]")).pending?.reason).to.equal("AddressNotAssigned");
    expect(read(withAddresses("[{ type: IPAddress }]")).addresses).to.have.length(1);
    expect(read(withAddresses("[{ type: Hostname, value: lb.example }]")).refusal?.reason).to.equal(
      "AddressNotUsable",
    );
  });

  describe("routability of addresses", () => {
    const inCluster = ownService.replace("spec: {", "spec: { clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7],");
    const routed = (addresses: string, service = inCluster, refusals = new Map<string, string>()) => {
      const {
        addresses: reported,
        assignment,
        ...rest
      } = read(withAddresses(addresses, service), [], refusals, true);
      return {
        reported: reported.map(({ value, routability }) => `${value} ${JSON.stringify(routability)}`),
        assigned: assignment && `${assignment.status} ${assignment.reason}`,
        message: assignment?.message,
        ...rest,
      };
    };
    const outside = '192.0.2.9 ""';
    const inside = '10.96.0.7 "Cluster"';

    it("every address has its routability", () => {
      const { reported, assigned } = routed("[]");
      expect(reported).to.deep.equal([outside]);
      expect(assigned).to.equal("True AddressesAssigned");
      const clusterIp = inCluster.replace("type: LoadBalancer", "type: ClusterIP");
      expect(routed("[]", clusterIp).reported).to.deep.equal([inside]);
    });

    it("each request gets its own address, in any order", () => {
      for (const requests of ["[{}, { routability: Cluster }]", "[{ routability: Cluster }, {}]"]) {
        const { reported, assigned } = routed(requests);
        expect(reported).to.have.members([outside, inside]);
        expect(assigned).to.equal("True AddressesAssigned");
      }
      expect(routed("[{ routability: testing.x-k8s.io/sentinel }]").reported).to.deep.equal([
        '192.0.2.9 "testing.x-k8s.io/sentinel"',
      ]);
    });

    it("the condition names the requests without an address", () => {
      const { reported, assigned, message } = routed("[{ routability: Cluster }, {}, {}]");
      expect(reported).to.have.members([outside, inside]);
      expect(assigned).to.equal("False PartiallyAssigned");
      expect(message).to.equal("No address has been assigned yet for IPAddress");
    });

    it("a request for a narrower routability never gets a wider address", () => {
      const { reported, pending, assigned } = routed("[{ routability: Cluster }]", ownService);
      expect(reported).to.deep.equal([]);
      expect(pending?.reason).to.equal("AddressNotAssigned");
      expect(assigned).to.equal(undefined);
      for (const requests of [
        "[{ routability: example.com/Vpc }]",
        "[{}, { routability: testing.x-k8s.io/other }]",
        "[{ type: Hostname, routability: Cluster }]",
      ]) {
        const { refusal, ...rest } = routed(requests);
        expect(refusal?.reason).to.equal("AddressNotAssigned");
        expect(refusal?.message).to.match(/^Routability ".*" of an address of type .* is not supported/);
        expect([rest.reported, rest.assigned]).to.deep.equal([[], "False NotAssigned"]);
      }
    });

    it("a cluster address outside the cluster's range is reported as not assigned", () => {
      const { refusal, assigned } = routed(
        "[{ routability: Cluster, value: 192.0.2.1 }]",
        inCluster,
        new Map([["shop/edge", "not in range"]]),
      );
      expect([refusal?.reason, assigned]).to.deep.equal(["AddressNotAssigned", "False NotAssigned"]);
    });
  });
});
