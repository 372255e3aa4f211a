/**
 * The requests of a README on a cluster, where they are sent to another address (config/examples/README.md, "On a
 * cluster").
 */
import { toLocal } from "./ports.ts";

/**
 * Ports that `make run` replaces with others, because binding them requires privileges. A cluster uses them
 * unchanged.
 */
const ports = new Map([
  [80, 80],
  [443, 443],
]);

/** The command with the address of the Gateway, or of the shared proxies, instead of the local one. */
export const toCluster = (command: string, address: string): string =>
  toLocal(command, ports).replaceAll("127.0.0.1", address);

/** The answer on a cluster, where URLs do not contain the ports 80 and 443. */
export const answerOnCluster = (answer: readonly string[]): readonly string[] =>
  answer.map((line) => line.replaceAll(/(http:\/\/[^/\s]+):8080|(https:\/\/[^/\s]+):8443/g, "$1$2"));
