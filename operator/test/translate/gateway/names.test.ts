import { expect } from "chai";
import type { ObjectOf } from "../../../src/api/kinds.ts";
import { dedicatedName, vipName } from "../../../src/translate/gateway/names.ts";

const gateway = (namespace: string, name: string): ObjectOf<"Gateway"> => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { namespace, name },
  spec: { gatewayClassName: "svc", listeners: [] },
});

describe("the names of what is made for a Gateway", () => {
  const gateways = [
    gateway("shop", "edge"),
    gateway("shop", "edge.v2"),
    gateway("shop", "edge-v2"),
    gateway("1st", "2nd.3rd"),
    gateway("n".repeat(63), "g".repeat(253)),
    gateway("n".repeat(63), `${"g".repeat(252)}h`),
    gateway("n".repeat(39), "g"),
  ];

  for (const [what, nameOf] of Object.entries({ vipName, dedicatedName })) {
    it(`are such that a Service can have them, and are no other Gateway's (${what})`, () => {
      const names = gateways.map(nameOf);
      for (const name of names) expect(name).to.match(/^[a-z][-a-z0-9]{0,61}[a-z0-9]$/);
      expect(new Set(names).size).to.equal(gateways.length);
    });
  }
});
