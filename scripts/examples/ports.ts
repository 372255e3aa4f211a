/** The ports in READMEs of examples are those of `make run`; tests use free ones in their place. */

/** By the port of a listener, the local one behind it. */
export type LocalPorts = ReadonlyMap<number, number>;

/** What `make run` makes of the ports 80 and 443 of listeners; others stay. */
const mapped: ReadonlyMap<number, number> = new Map([
  [8080, 80],
  [8443, 443],
]);

/** The ports of the listeners that a README asks, and those of Ingresses, which every gateway has. */
export const listenersOf = (markdown: string): readonly number[] => [
  ...new Set([80, 443, ...[...markdown.matchAll(asked)].map(([, port]) => listenerOf(port))]),
];

/** In URLs, and in the files by which bash opens sockets. */
const asked = /(?:https?:\/\/[^/\s:]+:|\/dev\/(?:tcp|udp)\/127\.0\.0\.1\/)(\d+)/g;

const listenerOf = (shown = ""): number => mapped.get(Number(shown)) ?? Number(shown);

/** The command with local ports in place of those that the README shows: in addresses, `--resolve` and files of bash. */
export const toLocal = (command: string, ports: LocalPorts): string =>
  command.replaceAll(/(?<=[a-z0-9]:|\/127\.0\.0\.1\/)\d{4,5}\b/g, (shown) =>
    String(ports.get(listenerOf(shown)) ?? shown),
  );

/** The output as it is with the ports that the README shows. */
export function toShown(output: string, ports: LocalPorts): string {
  const shown = new Map(
    [...ports].map(([listener, local]) => {
      const [port] = [...mapped].find(([, target]) => target === listener) ?? [listener];
      return [String(local), port] as const;
    }),
  );
  return output.replaceAll(/(?<=:)\d{4,5}\b/g, (local) => String(shown.get(local) ?? local));
}
