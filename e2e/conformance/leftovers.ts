import { kubectl } from "../support/provider.ts";

/**
 * Deletes the objects of an earlier run of the suite that was ended. With them some tests fail, because they grant
 * references that other tests require not to be granted. The namespaces of the suite begin with `gateway-`.
 */
export async function deleteLeftovers(): Promise<void> {
  const names = await kubectl(["get", "namespaces", "--output", "name"]);
  const left = names.split("\n").filter((name) => name.startsWith("namespace/gateway-"));
  if (left.length > 0) await kubectl(["delete", ...left, "--timeout=110s"]);
}
