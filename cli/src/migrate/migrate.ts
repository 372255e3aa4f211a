/**
 * Converts Ingresses of ingress-nginx to resources of this gateway. The manifests are translated and written; the
 * result is translated again and compared, and the report contains the findings of the comparison. See docs/cli.md,
 * "migrate".
 */
import { basename } from "node:path";
import { Document, isMap } from "yaml";
import { localPublicPort } from "@svc-gateway/common/settings/flag-types.ts";
import { kindNames, type KindName } from "@svc-gateway/operator/api/kinds.ts";
import { nameOf, type KubeObject } from "@svc-gateway/operator/api/object.ts";
import { loadStream } from "@svc-gateway/operator/sources/files/load-text.ts";
import { compareAges, ageOf } from "@svc-gateway/operator/translate/age.ts";
import { migratedHtpasswdLabels } from "@svc-gateway/operator/translate/credentials/htpasswd.ts";
import type { NginxReport } from "@svc-gateway/operator/translate/ingress-nginx/report.ts";
import { createLookup, updateWorld, type World } from "@svc-gateway/operator/world.ts";
import { translateWorld, type ReadFolder } from "../translate-folder.ts";
import { withAssumed } from "./assumed.ts";
import { compareUnits } from "./compare.ts";
import { canaryPaths } from "./canaries.ts";
import type { UnitDifference } from "./known-differences.ts";
import { createNode, joinDocuments, rewriteText, textAt, type ManifestNode } from "./manifest-texts.ts";
import { comparePassed, passedHosts } from "./passthrough.ts";
import { findReordered } from "./regex-order.ts";
import { servedUnits, type ServedUnit } from "./served-units.ts";
import { authorityLabels } from "./service-ports.ts";
import { isOfUnnamedPaths, unnamedPathsLost } from "./unnamed-paths.ts";
import type { MigratedObjects, Target } from "./target.ts";

type FolderSettings = Parameters<typeof translateWorld>[1];

export type MigrateOptions = {
  readonly settings: FolderSettings;
  readonly nowMs: number;
};

/** The result for one Ingress. */
export type MigratedIngress = {
  readonly report: NginxReport;
  /** Whether it is a canary without a primary path in the manifests, which is not written. */
  readonly isLostCanary: boolean;
  readonly differences: readonly UnitDifference[];
};

export type Migration = {
  /** The text of each input file, by its path as given, and of a file for objects that belong to no Ingress. */
  readonly files: ReadonlyMap<string, string>;
  readonly ingresses: readonly MigratedIngress[];
  /** The steps to be done by hand, as commands and sentences. */
  readonly todo: readonly string[];
};

/** Migrates all Ingresses of ingress-nginx. */
export async function migrate(
  folder: ReadFolder,
  target: Target,
  options: MigrateOptions,
): Promise<Migration> {
  const { nowMs } = options;
  const { state } = folder;
  const settings = withUsualPorts(options.settings);
  const prefix = settings.ingressNginxAnnotationsPrefix;
  const { world: before, isGuessed } = await withAssumed(state.world, prefix, nowMs);
  const translation = await translateWorld(before, settings, nowMs);
  const { nginxReports } = translation;
  const [named, unnamed] = splitUnits([...servedUnits(translation).values()]);
  const unitsOf = (name: string): readonly ServedUnit[] => named.get(name) ?? [];
  const lookup = createLookup(before);
  const all = nginxReports.flatMap(
    ({ object }) => lookup("Ingress", object.namespace ?? "", object.name) ?? [],
  );
  const isCanary = ({ metadata }: (typeof all)[number]): boolean =>
    unitsOf(nameOf(metadata)).length === 0 &&
    /^(?:1|t|T|true|True|TRUE)$/.test(metadata.annotations?.[`${prefix}/canary`] ?? "");
  const isForeign = (key: string): boolean => key.startsWith(`${prefix}/`);
  const ingresses = all.filter((one) => !isCanary(one)).sort((a, b) => compareAges(ageOf(a), ageOf(b)));
  const writer = target.prepare({ world: before, translation, unitsOf, ingresses, isForeign, isGuessed });
  const canaries = all.filter(isCanary);
  const written = new Map<string, MigratedObjects | "lost canary">([
    ...canaries.map((one): [string, MigratedObjects | "lost canary"] => {
      const paths = canaryPaths(one, { ingresses, unitsOf });
      const replace = paths.length === 0 ? undefined : writer.writeCanary(one, paths);
      return [nameOf(one.metadata), replace ? { replace, moved: [], userLists: [] } : "lost canary"];
    }),
    ...ingresses.map((one) => [nameOf(one.metadata), writer.write(one)] as const),
  ]);
  const labels = labelsOf(written.values(), writer.authorities);
  const files = await writeFiles(folder, { written, labels, shared: writer.shared });
  const after = labelSecrets(completed(await readWritten(files), before, writer.assumed), labels);
  const afterSettings = { ...settings, ingressNginxClasses: [], ingressNginxWatchWithoutClass: false };
  const translated = await translateWorld(after, afterSettings, nowMs);
  const served = writer.served(translated);
  const movedOf = (one: MigratedObjects | "lost canary" | undefined): MigratedObjects["moved"] =>
    one === undefined || one === "lost canary" ? [] : one.moved;
  const reordered = findReordered([...written.values()].flatMap(movedOf), served);
  const [passedBefore, passedAfter] = [passedHosts(translation), passedHosts(translated)];
  return {
    files,
    todo: [...todoOf(state.world, labels), ...writer.todo],
    ingresses: nginxReports.map((report) => {
      const name = nameOf(report.object);
      const one = written.get(name);
      const passed = comparePassed(name, passedBefore, passedAfter);
      return {
        report,
        isLostCanary: one === "lost canary",
        differences: [
          ...compareUnits(movedOf(one), served),
          ...(reordered.get(name) ?? []),
          ...passed,
          ...unnamedPathsLost(unnamed.get(name) ?? []),
        ],
      };
    }),
  };
}

type Units = ReadonlyMap<string, readonly ServedUnit[]>;

/** Groups units by Ingress, and separates those for paths that no rule names. */
const splitUnits = (units: readonly ServedUnit[]): readonly [named: Units, unnamed: Units] => {
  const byIngress = (of: readonly ServedUnit[]): Units => Map.groupBy(of, ({ ingress }) => ingress);
  return [
    byIngress(units.filter((one) => !isOfUnnamedPaths(one))),
    byIngress(units.filter(isOfUnnamedPaths)),
  ];
};

/** Sets the usual public ports, which clients of a cluster use, regardless of the ports of this machine. */
const withUsualPorts = (settings: FolderSettings): FolderSettings => {
  const { ingressHttpPublicPort: http, ingressHttpsPublicPort: https } = settings;
  return {
    ...settings,
    ingressHttpPublicPort: http === localPublicPort ? 80 : http,
    ingressHttpsPublicPort: https === localPublicPort ? 443 : https,
  };
};

/** The labels that Secrets (`namespace/name`) need before policies may name them. */
type SecretLabels = ReadonlyMap<string, Readonly<Record<string, string>>>;

type Writing = {
  readonly written: ReadonlyMap<string, MigratedObjects | "lost canary">;
  readonly labels: SecretLabels;
  readonly shared: readonly KubeObject[];
};

async function writeFiles(
  { state, read, isContext = () => false }: ReadFolder,
  { written, labels, shared }: Writing,
): Promise<ReadonlyMap<string, string>> {
  const replace = (node: ManifestNode): readonly ManifestNode[] | undefined => {
    const kind = textAt(node, ["kind"]);
    const name = textAt(node, ["metadata", "name"]) ?? "";
    const key = `${textAt(node, ["metadata", "namespace"]) ?? "default"}/${name}`;
    const ofSecret = kind === "Secret" ? labels.get(key) : undefined;
    if (ofSecret !== undefined) return [withLabels(node, ofSecret)];
    const one = kind === "Ingress" ? written.get(key) : undefined;
    if (one === undefined) return undefined;
    return one === "lost canary" ? [] : one.replace(node);
  };
  const files = new Map<string, string>();
  const places = new Set([...state.objects.values()].map(({ place }) => place.file));
  const others = new Set([...state.ignored, ...state.problems].map(({ file }) => file));
  for (const file of new Set([...places, ...others])) {
    if (isContext(file)) continue;
    files.set(file, rewriteText(await read(file), file.endsWith(".json"), replace));
  }
  if (shared.length > 0) files.set(freeName(files), joinDocuments(shared.map((one) => textOf(one))));
  return files;
}

const textOf = (object: KubeObject): string => new Document(object).toString({ lineWidth: 0 });

/** The name of the file for objects that belong to no Ingress. */
function freeName(files: ReadonlyMap<string, string>): string {
  const taken = new Set([...files.keys()].map((file) => basename(file)));
  for (let count = 1; ; count++) {
    const name = count === 1 ? "gateway.yaml" : `gateway-${count}.yaml`;
    if (!taken.has(name)) return name;
  }
}

function withLabels(node: ManifestNode, labels: Readonly<Record<string, string>>): ManifestNode {
  const labelled = node.clone() as ManifestNode;
  // Setting by path would create a map type of YAML 1.1, which most readers do not accept as a map.
  if (!isMap(labelled.getIn(["metadata", "labels"], true)))
    labelled.setIn(["metadata", "labels"], createNode({}));
  for (const [label, value] of Object.entries(labels)) labelled.setIn(["metadata", "labels", label], value);
  return labelled;
}

/** Reads the objects of the written files. */
async function readWritten(files: ReadonlyMap<string, string>): Promise<World> {
  const text = joinDocuments([...files.values()]);
  const loaded = await loadStream("<written>", [text] as unknown as AsyncIterable<string>);
  if (!loaded.ok) throw new Error(`what was written cannot be read: ${loaded.error.message}`);
  return loaded.value.state.world;
}

/** Adds to a world the assumed objects, and those of `before` that it lacks, except for Ingresses. */
function completed(world: World, before: World, assumed: readonly KubeObject[]): World {
  const lookup = createLookup(world);
  const missing = [
    ...assumed,
    ...kindNames.filter((kind) => kind !== "Ingress").flatMap((kind): readonly KubeObject[] => before[kind]),
  ].filter(
    ({ kind, metadata }) => lookup(kind as KindName, metadata.namespace ?? "", metadata.name) === undefined,
  );
  return updateWorld(
    world,
    missing.map((object) => ({ type: "apply", object })),
  );
}

function labelsOf(
  written: Iterable<MigratedObjects | "lost canary">,
  authorities: readonly string[],
): SecretLabels {
  const userLists = [...written].flatMap((one) => (one === "lost canary" ? [] : one.userLists));
  const labels = new Map<string, Readonly<Record<string, string>>>(
    userLists.map((secret) => [secret, migratedHtpasswdLabels]),
  );
  for (const secret of authorities) labels.set(secret, { ...labels.get(secret), ...authorityLabels });
  return labels;
}

/** Labels Secrets as after the steps that are left to the user. */
function labelSecrets(world: World, labels: SecretLabels): World {
  const lookup = createLookup(world);
  const labelled = [...labels].flatMap(([key, ofSecret]): KubeObject[] => {
    const [namespace = "", name = ""] = key.split("/");
    const secret = lookup("Secret", namespace, name);
    if (secret === undefined) return [];
    const all = { ...secret.metadata.labels, ...ofSecret };
    return [{ ...secret, metadata: { ...secret.metadata, labels: all } } as KubeObject];
  });
  return updateWorld(
    world,
    labelled.map((object) => ({ type: "apply", object })),
  );
}

const todoOf = (world: World, labels: SecretLabels): readonly string[] =>
  [...labels].flatMap(([key, ofSecret]) => {
    const [namespace = "", name = ""] = key.split("/");
    const isWritten = world.Secret.some(
      ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
    );
    const given = Object.entries(ofSecret).map(([label, value]) => `${label}=${value}`);
    return isWritten ? [] : [`kubectl --namespace ${namespace} label secret ${name} ${given.join(" ")}`];
  });
