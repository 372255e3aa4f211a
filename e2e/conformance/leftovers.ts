import { kubectl } from "../support/provider.ts";

/**
 * Deletes what a run of the suite that was ended has left: with such objects some tests fail, for they grant each other
 * what others of them must not be granted. The suite's namespaces begin with `gateway-`.
 */
export async function deleteLeftovers(): Promise<void> {
  const names = await kubectl(["get", "namespaces", "--output", "name"]);
  const left = names.split("\n").filter((name) => name.startsWith("namespace/gateway-"));
  if (left.length > 0) await kubectl(["delete", ...left, "--timeout=110s"]);
}
