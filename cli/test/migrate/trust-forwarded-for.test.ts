import { expect } from "chai";
import { clusterObjects, nginxFlags } from "../ingress-nginx/cluster.ts";
import { migrateText, ownClasses, targets } from "../ingress-nginx/migrated.ts";
import { shopIngress } from "./shop-ingress.ts";

/** The manifests for Ingresses of a class whose ConfigMap has these keys, and the notes of the report. */
async function migrated(
  data: Readonly<Record<string, string>>,
): Promise<{ readonly text: string; readonly report: string }> {
  const target = targets["annotations"];
  if (target === undefined) throw new Error("no such target");
  const [ingressClass] = clusterObjects;
  const configMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "controller", namespace: "ingress-nginx" },
    data,
  };
  const input = [...ownClasses, ingressClass, configMap, shopIngress()].map((object) =>
    JSON.stringify(object),
  );
  const { text, report } = await migrateText(input.join("\n---\n"), nginxFlags, target);
  return { text, report: JSON.stringify(report) };
}

describe("forwarded addresses of migrated routes", () => {
  it("a list of every address is not written, because the peer would count as the client", async () => {
    const trusts = { "use-forwarded-headers": "true" };
    for (const data of [trusts, { ...trusts, "proxy-real-ip-cidr": "0.0.0.0/0" }]) {
      const { text, report } = await migrated(data);
      expect(text).to.include("ingress.svc-labs.dev/trust-forwarded-for");
      expect(text).to.not.include("ingress.svc-labs.dev/forwarded-for-trusted-cidrs");
      expect(report).to.include("the client is the last public address of the list, not the first address");
    }
  });

  it("another list is written as it is", async () => {
    const { text, report } = await migrated({
      "use-forwarded-headers": "true",
      "proxy-real-ip-cidr": "192.0.2.0/24",
    });
    expect(text).to.match(/forwarded-for-trusted-cidrs"?: "?192\.0\.2\.0\/24/);
    expect(report).to.not.include("the client is the last public address of the list");
  });
});
