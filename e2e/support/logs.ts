/** Logs, Events and objects of a failed test. */
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { namespace } from "../deploy/release.ts";
import { provider, root, tryKubectl } from "./provider.ts";

const folder = join(root, ".cache/e2e/logs");

/** Writes logs, Events and objects to a folder with the name of the test, and returns its path. Never fails. */
export async function collectLogs(test: string): Promise<string> {
  const target = join(
    folder,
    test
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "-")
      .slice(0, 100),
  );
  mkdirSync(target, { recursive: true });
  const keep = async (file: string, args: readonly string[]): Promise<void> => {
    const { stdout, stderr } = await tryKubectl(args, { timeoutMs: 30_000 });
    writeFileSync(join(target, file), `${stdout}${stderr}`);
  };
  try {
    await keep("pods.txt", ["get", "pods", "--all-namespaces", "--output", "wide"]);
    await keep("events.txt", ["get", "events", "--all-namespaces", "--sort-by=.lastTimestamp"]);
    await keep("objects.yaml", [
      ...["get", "ingresses,services,endpointslices,leases", "--all-namespaces", "--output", "yaml"],
    ]);
    await keep("describe.txt", ["--namespace", namespace, "describe", "pods"]);
    const { stdout } = await tryKubectl(["--namespace", namespace, "get", "pods", "--output", "name"]);
    for (const pod of stdout.split("\n").filter((name) => name !== "")) {
      const name = pod.slice(pod.indexOf("/") + 1);
      await keep(`${name}.log`, ["--namespace", namespace, "logs", name]);
      await keep(`${name}.previous.log`, ["--namespace", namespace, "logs", name, "--previous"]);
    }
    const ofCluster = await provider("logs");
    if (ofCluster !== "" && existsSync(ofCluster)) {
      cpSync(ofCluster, join(target, "cluster"), {
        recursive: true,
        filter: (from) => !from.includes("/pods"),
      });
    }
  } catch (error) {
    writeFileSync(join(target, "incomplete.txt"), String(error));
  }
  return target;
}
