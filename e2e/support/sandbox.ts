/** A namespace for the objects of one test file, deleted when its tests have ended. */
import { randomBytes } from "node:crypto";
import { ask, call } from "./api.ts";
import { kubectl, tryKubectl } from "./provider.ts";
import type { Ran } from "./run-program.ts";

export type Sandbox = {
  readonly namespace: string;
  /** Creates or changes objects (server-side apply). */
  apply(...objects: readonly object[]): Promise<void>;
  /** Like `apply`, but returns a refusal instead of throwing. */
  tryApply(...objects: readonly object[]): Promise<Ran>;
  delete(kind: string, name: string): Promise<void>;
};

/** Must be called inside `describe`. */
export function useSandbox(name: string): Sandbox {
  const namespace = `e2e-${name}-${randomBytes(3).toString("hex")}`;
  const path = `/api/v1/namespaces/${namespace}`;
  const args = ["--namespace", namespace, "apply", "--server-side", "--force-conflicts", "--filename", "-"];
  const list = (items: readonly object[]): { input: string } => ({
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
  });
  before(async () => {
    await ask("/api/v1/namespaces", {
      method: "POST",
      body: {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: namespace, labels: { "svc-labs.dev/e2e": name } },
      },
    });
  });
  after(async () => {
    await call(path, { method: "DELETE" });
  });
  return {
    namespace,
    async apply(...objects) {
      await kubectl(args, list(objects));
    },
    tryApply: (...objects) => tryKubectl(args, list(objects)),
    async delete(kind, object) {
      await kubectl(["--namespace", namespace, "delete", kind, object, "--wait=false"]);
    },
  };
}
