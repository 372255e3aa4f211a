import { withGateway } from "../standalone/gateway.ts";
import { expectAnswers } from "./ask.ts";
import { startBackends, type CaseBackends } from "./backends.ts";
import { readCorpus } from "./cases.ts";
import { clusterObjects, nginxFlags } from "./cluster.ts";

describe("Ingresses of popular charts, with ingress-nginx's annotations and unchanged", () => {
  const corpus = readCorpus();
  const backends = new Map<string, CaseBackends>();

  before(async () => {
    for (const one of corpus) backends.set(one.name, await startBackends(one));
  });
  after(async () => {
    await Promise.all([...backends.values()].map((started) => started.close()));
  });

  it("all of them together are served by one gateway as ingress-nginx served them", async function () {
    const manifests: Record<string, string> = {
      "cluster.json": JSON.stringify({ apiVersion: "v1", kind: "List", items: clusterObjects }),
    };
    for (const { name, manifests: text } of corpus) {
      manifests[`${name}.yaml`] = text;
      const items = backends.get(name)?.objects ?? [];
      manifests[`${name}-services.json`] = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    }
    await withGateway({ manifests, flags: nginxFlags }, async (gateway) => {
      const failures: string[] = [];
      for (const { name, requests } of corpus) {
        for (const wanted of requests) {
          await expectAnswers(gateway, wanted).catch((error: unknown) => {
            failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
          });
        }
      }
      if (failures.length > 0) throw new Error(failures.join("\n"));
    });
  });
});
