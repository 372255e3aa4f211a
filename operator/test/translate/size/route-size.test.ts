import { expect } from "chai";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { canonicalJson } from "@svc-gateway/common/ir/canonical-json.ts";
import { sizeOfRoutes } from "../../../src/translate/size/route-size.ts";

const routeTo = (path: string): Route => ({
  backends: [{ weight: 1, service: "a/b", protocol: "http1" }],
  id: "ingress/a/b:0.0",
  match: { path: { type: "exact", value: path } },
  source: { kind: "Ingress", namespace: "a", name: "b" },
});

describe("the size of routes", () => {
  for (const letter of ["a", "é", "€", "😀", "\u0001", '"']) {
    it(`the size of routes is within 5 % of their bytes for ${JSON.stringify(letter)}`, () => {
      const routes = [routeTo(letter.repeat(5000)), routeTo("/")];
      const bytes = Buffer.byteLength(canonicalJson(routes));
      expect(sizeOfRoutes(routes)).to.be.within(bytes * 0.95, bytes * 1.05);
    });
  }
});
