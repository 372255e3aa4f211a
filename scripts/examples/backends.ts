/**
 * The backends of an example on this machine, which are the endpoints of its standalone.yaml
 * (config/examples/README.md).
 */
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

/** The target of the link standalone.yaml in each example. */
const shared = resolve(import.meta.dirname, "../../config/examples/backends/standalone.yaml");

/**
 * The Services with endpoints on this machine, by port. Empty for a folder that is neither an example nor a copy of
 * one.
 */
export function backendsOf(folder: string): ReadonlyMap<number, string> {
  const text = readFileSync(shared, "utf8");
  // A file of this name in a folder of the user refers to real backends.
  if (readIfPresent(join(folder, "standalone.yaml")) !== text) return new Map();
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Slice | null);
  const names = new Map<number, string>();
  for (const object of objects) {
    if (object?.kind !== "EndpointSlice") continue;
    const name = object.metadata.labels?.["kubernetes.io/service-name"] ?? "";
    // A Service with several backends follows the Services with one of them.
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

/** The number of free ports that are tried: a port that is free for TCP can be in use for UDP. */
const attempts = 20;

/** Starts a backend on one port for TCP and UDP; port 0 uses a free one. Rejects if the port is in use. */
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
