/** Fills the API server with applications. */
import type { ApiClient } from "../../operator/src/sources/kubernetes/api-client.ts";
import { appName, collections, ingress, namespace, namespaceOf, service, slice } from "./objects.ts";

const concurrency = 48;

type Creation = { readonly path: string; readonly body: object };

/** Creates the applications from `from` (inclusive) to `to` (exclusive), with three objects each. */
export async function createApplications(client: ApiClient, from: number, to: number): Promise<void> {
  const indexes = Array.from({ length: to - from }, (_, offset) => from + offset);
  const namespaces = [...new Set(indexes.map(namespaceOf))];
  await createAll(
    client,
    namespaces.map((name) => ({ path: collections.namespaces, body: namespace(name) })),
  );
  await createAll(client, indexes.flatMap(objectsOf));
}

function objectsOf(index: number): readonly Creation[] {
  const home = namespaceOf(index);
  return [
    { path: collections.services(home), body: service(index) },
    { path: collections.slices(home), body: slice(index) },
    { path: collections.ingresses(home), body: ingress(index) },
  ];
}

/** Creates objects, several at a time; existing ones are not modified. */
export async function createAll(client: ApiClient, creations: readonly Creation[]): Promise<void> {
  const rest = creations.values();
  const work = async (): Promise<void> => {
    for (const { path, body } of rest) {
      const created = await client.call(path, { method: "POST", body });
      if (!created.ok && created.error.status !== 409) {
        throw new Error(`POST ${path}: ${created.error.status} ${created.error.message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

/** The API paths of the objects of an application. */
export const pathOf = {
  ingress: (index: number): string => `${collections.ingresses(namespaceOf(index))}/${appName(index)}`,
  slice: (index: number): string => `${collections.slices(namespaceOf(index))}/${appName(index)}-x7k2p`,
};
