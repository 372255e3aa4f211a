/** Every object of the cluster by name, to compare the cluster before and after. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ask } from "./api.ts";
import { root } from "./provider.ts";

type ResourceList = {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
};
type GroupList = {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
};
type ObjectList = {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace?: string } }[];
};

/** Kinds of objects that the cluster creates and deletes on its own. */
const passing = new Set(["events", "componentstatuses"]);

/** Names such as `networking.k8s.io/v1/ingresses web/shop`, in order; `-` means no namespace. */
export async function listObjects(): Promise<readonly string[]> {
  const { groups } = await ask<GroupList>("/apis");
  const paths = [
    "/api/v1",
    ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const found: string[] = [];
  for (const path of paths) {
    const { resources } = await ask<ResourceList>(path);
    for (const { name, verbs } of resources) {
      if (!verbs.includes("list") || passing.has(name)) continue;
      const { items } = await ask<ObjectList>(`${path}/${name}`);
      const kind = `${path.replace(/^\/apis?\//, "")}/${name}`;
      found.push(...items.map(({ metadata }) => `${kind} ${metadata.namespace ?? "-"}/${metadata.name}`));
    }
  }
  return found.sort();
}

const file = join(root, ".cache/e2e/objects-before.json");

/** Records the objects that exist before the gateway is installed. */
export async function rememberObjects(): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(await listObjects()));
}

/** The objects that existed before the gateway was installed; undefined if they were not recorded. */
export const rememberedObjects = (): readonly string[] | undefined =>
  existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as readonly string[]) : undefined;
