import { expect } from "chai";
import { controllerBehind } from "@svc-gateway/proxy/source/controller-name.ts";

describe("the controller behind an endpoint", () => {
  const cases = [
    ["svc-controller-discovery.svc-system.svc", "svc-system"],
    ["svc-controller-discovery.svc-system.svc.cluster.local", "svc-system"],
    ["svc-controller-discovery.svc-system", "svc-system"],
    ["svc-controller-discovery", "own"],
    ["10.0.0.1", "own"],
    ["fd00::1", "own"],
    ["controllers.example.org", "own"],
  ] as const;
  for (const [host, namespace] of cases) {
    it(`the controller at ${host} is expected in the namespace ${namespace}`, () => {
      expect(controllerBehind({ host, port: 50051 }, "cluster.local", "own")).to.deep.equal({
        trustDomain: "cluster.local",
        host,
        identity: { namespace, serviceAccount: "svc-controller" },
      });
    });
  }
});
