/** The requests of a README on a cluster, where they go to another address (config/examples/README.md, "On a cluster"). */
import { toLocal } from "./ports.ts";

/** What `make run` makes other ports of, because those need rights. */
const ports = new Map([
  [80, 80],
  [443, 443],
]);

/** The command with the address of the Gateway, or of the shared proxies, in place of the local one. */
export const toCluster = (command: string, address: string): string =>
  toLocal(command, ports).replaceAll("127.0.0.1", address);

/** The answer there: URLs do not name the ports 80 and 443. */
export const answerOnCluster = (answer: readonly string[]): readonly string[] =>
  answer.map((line) => line.replaceAll(/(http:\/\/[^/\s]+):8080|(https:\/\/[^/\s]+):8443/g, "$1$2"));
