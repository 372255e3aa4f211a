import { isObjectName } from "@svc-gateway/common/values/namespaced-name.ts";
import { expect } from "chai";
import { parseAllDocuments } from "yaml";
import { nginxFlags } from "../ingress-nginx/cluster.ts";
import { migrateText, ownClasses, targets } from "../ingress-nginx/migrated.ts";

/** An Ingress whose redirect to HTTPS takes a second route of the Gateway API. */
const ingressNamed = (name: string): object => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name, namespace: "shop" },
  spec: {
    ingressClassName: "nginx",
    tls: [{ hosts: ["shop.example"], secretName: "shop" }],
    rules: [
      {
        host: "shop.example",
        http: {
          paths: [
            { path: "/", pathType: "Prefix", backend: { service: { name: "shop", port: { number: 80 } } } },
          ],
        },
      },
    ],
  },
});

const nginxClass: object = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "nginx" },
  spec: { controller: "k8s.io/ingress-nginx" },
};

describe("names of migrated routes", () => {
  it("the names of the routes of an Ingress whose name has the maximum length stay valid and distinct", async () => {
    const target = targets["gateway-api"];
    if (target === undefined) throw new Error("no such target");
    const name = "a".repeat(253);
    const input = [...ownClasses, nginxClass, ingressNamed(name)].map((object) => JSON.stringify(object));
    const { text } = await migrateText(input.join("\n---\n"), nginxFlags, target);
    const routes = parseAllDocuments(text)
      .map((document): { kind: string; metadata: { name: string } } => document.toJS())
      .filter(({ kind }) => kind === "HTTPRoute")
      .map((route) => route.metadata.name);
    expect(routes).to.have.lengthOf(2).and.include(name);
    expect(new Set(routes).size).to.equal(2);
    expect(routes.filter((route) => !isObjectName(route))).to.deep.equal([]);
  });
});
