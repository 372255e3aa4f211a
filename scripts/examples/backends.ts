/** The backends of an example on this machine: the endpoints of its standalone.yaml (config/examples/README.md). */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseAllDocuments } from "yaml";
import { createEchoServer } from "../../config/examples/backends/echo.ts";
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
  return new Map(
    objects.flatMap((object) =>
      object?.kind === "EndpointSlice"
        ? (object.ports ?? []).map(
            ({ port }) => [port, object.metadata.labels?.["kubernetes.io/service-name"] ?? ""] as const,
          )
        : [],
    ),
  );
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Starts a backend; port 0 takes a free one. Rejects where the port is taken. */
export const startExampleBackend = (name: string, port = 0): Promise<Listening> =>
  listen(createEchoServer(name), port);
