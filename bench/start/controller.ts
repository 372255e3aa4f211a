/** A controller in this process, from which a proxy gets its first snapshot; there is no API server behind it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot } from "../../common/src/ir/snapshot.ts";
import { ready, sharedToken, startController } from "../../operator/test/discovery/support/controller.ts";
import { resources } from "../snapshot/resources.ts";

/** The flags of a proxy that is started in this folder to be served by a controller with so many routes, on listener port 80. */
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
