/** The backends of an example on this machine: the endpoints of its standalone.yaml (config/examples/README.md). */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import { createEchoDatagrams, createEchoServer } from "../../config/examples/backends/echo.ts";
import { listen, type Listening } from "../echo/listen.ts";

type Slice = {
  readonly kind: string;
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly ports?: readonly { readonly port: number }[];
};

/** What the standalone.yaml of each example links to. */
const shared = resolve(import.meta.dirname, "../../config/examples/backends/standalone.yaml");

/** By port, the Service that has an endpoint there; empty for a folder that is no example, nor a copy of one. */
export function backendsOf(folder: string): ReadonlyMap<number, string> {
  const text = readFileSync(shared, "utf8");
  // A file of the same name in a folder of the user's own has real backends.
  if (readIfPresent(join(folder, "standalone.yaml")) !== text) return new Map();
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Slice | null);
  const names = new Map<number, string>();
  for (const object of objects) {
    if (object?.kind !== "EndpointSlice") continue;
    const name = object.metadata.labels?.["kubernetes.io/service-name"] ?? "";
    // A Service of several backends comes after those of each.
    for (const { port } of object.ports ?? []) names.set(port, names.get(port) ?? name);
  }
  return names;
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Free ports are tried this often: the one that TCP gives may be taken for UDP. */
const attempts = 20;

/** Starts a backend, on one port for TCP and UDP; port 0 takes a free one. Rejects where the port is taken. */
export async function startExampleBackend(name: string, port = 0): Promise<Listening> {
  for (let attempt = 1; ; attempt++) {
    const server = await listen(createEchoServer(name), port);
    const datagrams = createEchoDatagrams(name);
    try {
      datagrams.bind(server.port, "127.0.0.1");
      await once(datagrams, "listening");
    } catch (error) {
      await server.close();
      if (port === 0 && attempt < attempts) continue;
      throw error;
    }
    return {
      port: server.port,
      async close() {
        datagrams.close();
        await server.close();
      },
    };
  }
}
