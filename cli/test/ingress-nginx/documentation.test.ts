import { readFileSync } from "node:fs";
import { expect } from "chai";
import { withGateway } from "../standalone/gateway.ts";
import { expectAnswers } from "./ask.ts";
import { startBackends } from "./backends.ts";
import { readCorpus, servicesOf, type CorpusCase } from "./cases.ts";
import { clusterObjects, nginxFlags } from "./cluster.ts";
import { findingsOf } from "./rule-gateway.ts";

const namespaceOf = ({ name, objects }: CorpusCase): string => objects[0]?.metadata.namespace ?? name;

/** The names that no two cases of one gateway may share: hosts, and Services of a namespace. */
const keysOf = (one: CorpusCase): readonly string[] => [
  ...one.objects.flatMap(({ spec }) => (spec?.rules ?? []).map(({ host }) => host)),
  ...[...servicesOf(one).keys()].map((service) => `${namespaceOf(one)}/${service}`),
];

/** The cases in groups that one gateway can serve. */
function together(cases: readonly CorpusCase[]): readonly (readonly CorpusCase[])[] {
  const groups: { readonly cases: CorpusCase[]; readonly keys: Set<string> }[] = [];
  for (const one of cases) {
    const keys = keysOf(one);
    let group = groups.find(({ keys: taken }) => !keys.some((key) => taken.has(key)));
    if (group === undefined) groups.push((group = { cases: [], keys: new Set() }));
    group.cases.push(one);
    for (const key of keys) group.keys.add(key);
  }
  return groups.map((group) => group.cases);
}

async function serve(cases: readonly CorpusCase[]): Promise<readonly string[]> {
  const failures: string[] = [];
  const started = await Promise.all(cases.map((one) => startBackends({ ...one, name: namespaceOf(one) })));
  try {
    const items = [
      ...clusterObjects,
      ...cases.flatMap(({ objects }) => objects),
      ...started.flatMap(({ objects }) => objects),
    ];
    const text = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    const findings = await findingsOf(text, nginxFlags);
    await withGateway({ manifests: { "all.json": text }, flags: nginxFlags }, async (gateway) => {
      for (const one of cases) {
        const own = new Set(one.objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`));
        const codes = findings.flatMap(({ object, reason }) =>
          own.has(`${object.namespace}/${object.name}`) ? [reason] : [],
        );
        const attempt = async (action: () => Promise<unknown>): Promise<void> => {
          await action().catch((error: unknown) => failures.push(`${one.name}: ${String(error)}`));
        };
        await attempt(async () =>
          expect([...new Set(codes)].sort(), "findings").to.deep.equal([...one.findings].sort()),
        );
        for (const wanted of one.requests) await attempt(() => expectAnswers(gateway, wanted));
      }
    });
  } finally {
    await Promise.all(started.map((backends) => backends.close()));
  }
  return failures;
}

describe("the examples of ingress-nginx's documentation", () => {
  it("they are served unchanged, and check names what is not served as it was", async () => {
    const failures: string[] = [];
    for (const cases of together(readCorpus("documentation"))) failures.push(...(await serve(cases)));
    if (failures.length > 0) throw new Error(failures.join("\n"));
  });

  const page = readFileSync(
    new URL("../../../docs/migrating-from-ingress-nginx.md", import.meta.url),
    "utf8",
  );
  const [, section = ""] = page.split("### Examples of its documentation");
  const rows = (section.split("\n## ")[0] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2);
  const inOrder = readCorpus("documentation").toSorted((a, b) => (a.name < b.name ? -1 : 1));

  it("the page about migrations has a row for each of them, with what check finds", () => {
    const found = rows.map((row) => {
      const [, , findings = ""] = row.split("|");
      return findings.trim() === "nothing" ? [] : [...findings.matchAll(/`(\w+)`/g)].map(([, code]) => code);
    });
    expect(found).to.deep.equal(inOrder.map(({ findings }) => findings));
  });

  it("the page about migrations names those that answer otherwise when they are migrated", () => {
    const [, migrated = ""] = page.split("\n## Migrate");
    const text = readFileSync(new URL("agreement.yaml", import.meta.url), "utf8");
    const different = new Set([...text.matchAll(/^ {2}documentation of (\S+):$/gm)].map(([, name]) => name));
    expect(different.size).to.be.above(5);
    const titles = inOrder.flatMap(({ name }, index) =>
      different.has(name) ? [rows[index]?.split("|")[1]?.trim() ?? ""] : [],
    );
    expect(titles.filter((title) => !(migrated.split("\n## ")[0] ?? "").includes(title))).to.deep.equal([]);
  });
});
