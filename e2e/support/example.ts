/** An example of config/examples on the test cluster: its own objects, with the image that the cluster has. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseAllDocuments } from "yaml";
import { answerOnCluster, toCluster } from "../../scripts/examples/cluster.ts";
import { isAnswer, type ExampleRequest } from "../../scripts/examples/readme.ts";
import { loadBalancerAddresses } from "./address.ts";
import { installedImage } from "./echo.ts";
import { kubectl, root, tryKubectl } from "./provider.ts";
import { run } from "./run-program.ts";
import { until } from "./until.ts";

type KubernetesObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly generation?: number };
  readonly status?: {
    readonly addresses?: readonly { readonly value: string }[];
    readonly loadBalancer?: { readonly ingress?: readonly object[] };
  };
};

/**
 * Kinds of the Gateway API with a status that shows that the gateway has read them. All kinds of the gateway's own
 * have one.
 */
const withStatus = /^(?:Gateway|ListenerSet|[A-Z]+Route)$/i;

/** The objects that `kubectl apply -k` would apply from a folder, with the Node.js image of the cluster. */
export async function renderExample(folder: string): Promise<readonly KubernetesObject[]> {
  const image = await installedImage();
  const [, newName = "", newTag = ""] = /^(.*):([^:]+)$/.exec(image) ?? [];
  const work = join(root, ".cache/examples");
  mkdirSync(work, { recursive: true });
  const overlay = mkdtempSync(join(work, "overlay-"));
  try {
    const images = [{ name: "node", newName, newTag }];
    writeFileSync(
      join(overlay, "kustomization.yaml"),
      JSON.stringify({
        apiVersion: "kustomize.config.k8s.io/v1beta1",
        kind: "Kustomization",
        resources: [relative(overlay, folder)],
        images,
      }),
    );
    const text = await kubectl(["kustomize", overlay]);
    return parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
  } finally {
    rmSync(overlay, { recursive: true });
  }
}

/** Applies objects of an example, in the namespaces that they specify, else in `default`. */
export const applyExample = (objects: readonly object[]): Promise<string> =>
  kubectl(["apply", "--filename", "-"], list(objects));

/**
 * Deletes objects, and waits for all except namespaces, whose names no other example uses. Skips kinds that the
 * cluster does not know.
 */
export async function deleteExample(objects: readonly KubernetesObject[]): Promise<void> {
  const args = ["delete", "--ignore-not-found", "--filename", "-"];
  const isNamespace = ({ kind }: KubernetesObject): boolean => kind === "Namespace";
  const [spaces, others] = [objects.filter(isNamespace), objects.filter((object) => !isNamespace(object))];
  const deletions = [
    ...(others.length > 0 ? [await tryKubectl(args, list(others))] : []),
    ...(spaces.length > 0 ? [await tryKubectl([...args, "--wait=false"], list(spaces))] : []),
  ];
  const failed = deletions.find(
    ({ status, stderr }) => status !== 0 && !stderr.includes("no matches for kind"),
  );
  if (failed !== undefined) throw new Error(`an example was not deleted: ${failed.stderr}`);
}

const list = (items: readonly object[]): { readonly input: string } => ({
  input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
});

/** Waits until the gateway has reported every object that has a status, and returns the address for requests. */
export async function addressOfExample(objects: readonly KubernetesObject[]): Promise<string> {
  const awaited = objects.filter(
    ({ apiVersion, kind }) =>
      kind === "Ingress" || withStatus.test(kind) || apiVersion.startsWith("gateway.svc-labs.dev/"),
  );
  const { value } = await until("the statuses of the example", async () => {
    const args = ["get", "--output", "json", "--filename", "-"];
    // With one object, kubectl prints the object; with several, a list.
    const read = JSON.parse(await kubectl(args, list(awaited))) as KubernetesObject & {
      readonly items?: readonly KubernetesObject[];
    };
    const present = read.items ?? [read];
    if (!present.every(isReported)) return undefined;
    const [gateway] = present.flatMap(({ status }) => status?.addresses ?? []);
    const [shared] = await loadBalancerAddresses();
    return gateway?.value ?? shared;
  });
  return value;
}

function isReported({ kind, metadata, status }: KubernetesObject): boolean {
  if (kind === "Ingress") return (status?.loadBalancer?.ingress ?? []).length > 0;
  const isPresent = JSON.stringify(status ?? {}).includes(
    `"observedGeneration":${String(metadata.generation)}`,
  );
  return isPresent && (kind !== "Gateway" || (status?.addresses ?? []).length > 0);
}

/** Runs a command of a README against an address. Returns its output, and whether it matches that of the README. */
export async function askExample(
  { command, answer }: ExampleRequest,
  address: string,
): Promise<{ readonly isRight: boolean; readonly output: string }> {
  const { stdout, stderr } = await run("bash", ["-c", toCluster(command, address)]);
  const output = stdout + stderr;
  return { isRight: isAnswer(answerOnCluster(answer), output), output };
}
