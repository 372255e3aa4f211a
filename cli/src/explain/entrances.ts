/** The Services of a cluster through which a request can enter. Each has its own ports, possibly its own proxies. */
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import { nameOf, refOf } from "@svc-gateway/operator/api/object.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import type { TranslatedFolder } from "../translate-folder.ts";

export type Entrance = {
  /** `Gateway namespace/name`, or the shared proxies' own Service. */
  readonly name: string;
  readonly folder: TranslatedFolder;
  /** The mapping from ports of proxies to ports of the Service. */
  readonly portMap: readonly PortMapping[];
};

/** Lists the entrances: that of Ingresses first, then those of Gateways by name. */
export function entrancesOf(folder: TranslatedFolder): readonly Entrance[] {
  const { translation } = folder;
  const ofVips = translation.vips.map(({ gateway, service }): Entrance => ({
    name: `Gateway ${nameOf(refOf(gateway))}`,
    folder,
    portMap: service.spec.ports.map(({ port, targetPort }) => ({
      listenerPort: targetPort,
      localPort: port,
    })),
  }));
  const ofDedicated = translation.scopes.dedicated.map(({ gateway, resources, routing }): Entrance => {
    const own: Translation = { ...translation, routing, scopes: { shared: resources, dedicated: [] } };
    return {
      name: `Gateway ${gateway.namespace}/${gateway.name}`,
      folder: { ...folder, translation: own },
      portMap: [],
    };
  });
  const gateways = [...ofVips, ...ofDedicated].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [{ name: "the shared proxies", folder, portMap: [] }, ...gateways];
}

/**
 * Returns the first answer with a route, or the first of all if none has one, with the entrances that accept the
 * request. `gateway` restricts the entrances to those of a Gateway (`namespace/name`); undefined if it has none.
 */
export async function answerAtEntrances<A extends { readonly outcome: string }>(
  entrances: readonly Entrance[],
  gateway: string | undefined,
  answerAt: (entrance: Entrance) => A | Promise<A>,
): Promise<{ readonly answer: A; readonly taking: readonly string[] } | undefined> {
  const chosen =
    gateway === undefined ? entrances : entrances.filter(({ name }) => name === `Gateway ${gateway}`);
  const answers = await Promise.all(
    chosen.map(async (entrance) => ({ name: entrance.name, answer: await answerAt(entrance) })),
  );
  const taking = answers.filter(({ answer }) => answer.outcome === "route");
  const [first] = taking.length > 0 ? taking : answers;
  return first && { answer: first.answer, taking: taking.map(({ name }) => name) };
}
