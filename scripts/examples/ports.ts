/** The ports in READMEs of examples, which are those of `make run`. Tests replace them with free ones. */

/** The local port for each listener port. */
export type LocalPorts = ReadonlyMap<number, number>;

/** The listener ports for the local ports with which `make run` replaces 80 and 443; other ports are the same. */
const mapped: ReadonlyMap<number, number> = new Map([
  [8080, 80],
  [8443, 443],
]);

/** The listener ports to which a README sends requests, and those of Ingresses, which every gateway has. */
export const listenersOf = (markdown: string): readonly number[] => [
  ...new Set([80, 443, ...[...markdown.matchAll(asked)].map(([, port]) => listenerOf(port))]),
];

/** Matches ports in URLs, and in the files by which bash opens sockets. */
const asked = /(?:https?:\/\/[^/\s:]+:|\/dev\/(?:tcp|udp)\/127\.0\.0\.1\/)(\d+)/g;

const listenerOf = (shown = ""): number => mapped.get(Number(shown)) ?? Number(shown);

/** The command with local ports instead of those that the README shows: in addresses, `--resolve` and files of bash. */
export const toLocal = (command: string, ports: LocalPorts): string =>
  command.replaceAll(/(?<=[a-z0-9]:|\/127\.0\.0\.1\/)\d{4,5}\b/g, (shown) =>
    String(ports.get(listenerOf(shown)) ?? shown),
  );

/** The output with the ports that the README shows instead of the local ones. */
export function toShown(output: string, ports: LocalPorts): string {
  const shown = new Map(
    [...ports].map(([listener, local]) => {
      const [port] = [...mapped].find(([, target]) => target === listener) ?? [listener];
      return [String(local), port] as const;
    }),
  );
  return output.replaceAll(/(?<=:)\d{4,5}\b/g, (local) => String(shown.get(local) ?? local));
}
