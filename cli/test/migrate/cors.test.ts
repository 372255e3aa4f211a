import { expect } from "chai";
import { nginxFlags } from "../ingress-nginx/cluster.ts";
import { migrateText, ownClasses, targets } from "../ingress-nginx/migrated.ts";
import { shopIngress } from "./shop-ingress.ts";

const nginxClass: object = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "nginx" },
  spec: { controller: "k8s.io/ingress-nginx" },
};

const prefix = "nginx.ingress.kubernetes.io";

const ingressWith = (methods: string): object =>
  shopIngress({
    [`${prefix}/enable-cors`]: "true",
    [`${prefix}/cors-allow-origin`]: "https://www.example.com",
    [`${prefix}/cors-allow-methods`]: methods,
  });

/** The outcomes of `cors-allow-methods`, and the written manifests. */
async function migrated(
  methods: string,
  to: string,
): Promise<{ readonly outcomes: readonly string[]; readonly text: string }> {
  const target = targets[to];
  if (target === undefined) throw new Error("no such target");
  const input = [...ownClasses, nginxClass, ingressWith(methods)].map((object) => JSON.stringify(object));
  const { text, report } = await migrateText(input.join("\n---\n"), nginxFlags, target);
  const rows = report.rows.filter(({ setting }) => setting.endsWith("/cors-allow-methods"));
  return {
    outcomes: rows.map(({ outcome }) => outcome),
    text,
  };
}

describe("CORS of migrated routes", () => {
  it("methods in small letters are written in capital letters, which browsers accept", async () => {
    const { outcomes, text } = await migrated("get, put, delete", "annotations");
    expect(text).to.match(/cors-allow-methods"?: "GET, PUT, DELETE"/);
    expect(outcomes).to.deep.equal(["changed"]);
    const { text: route } = await migrated("get, put", "gateway-api");
    expect(route.replaceAll(/\s+/g, " ")).to.match(/allowMethods"?: \[? ?-? ?"?GET"?,? -? ?"?PUT"?/);
  });

  it("a list that the annotation cannot express is reported as lost, and is not written", async () => {
    const { outcomes, text } = await migrated("GET PUT", "annotations");
    expect(outcomes).to.deep.equal(["lost"]);
    expect(text).to.not.include("ingress.svc-labs.dev/cors-allow-methods");
  });
});
