/** A controller in this process, without an API server, from which a proxy gets its first snapshot. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot } from "../../common/src/ir/snapshot.ts";
import { ready, sharedToken, startController } from "../../operator/test/discovery/support/controller.ts";
import { resources } from "../snapshot/resources.ts";

/**
 * Starts a controller with this number of routes, on listener port 80. Returns the flags of a proxy that it serves,
 * with files in this folder.
 */
export async function startStream(
  folder: string,
  routes: number,
  backendPort: number,
): Promise<readonly string[]> {
  const controller = await startController();
  const files = { token: join(folder, "token"), bundle: join(folder, "ca.crt") };
  writeFileSync(files.bundle, await ready(controller));
  writeFileSync(files.token, sharedToken);
  const snapshot = createSnapshot(resources(routes, backendPort, () => "/"));
  controller.server.cache.publish([[{ kind: "shared" }, snapshot]]);
  const { streamPort, bootstrapPort } = controller.ports;
  return [
    ...["--shared", "--discovery-endpoint", `127.0.0.1:${streamPort}`],
    ...["--discovery-bootstrap-endpoint", `127.0.0.1:${bootstrapPort}`],
    ...["--discovery-sa-token-path", files.token, "--discovery-ca-bundle-path", files.bundle],
  ];
}
