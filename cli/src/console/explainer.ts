/** Explains requests in a dedicated thread, one at a time and with a time limit (docs/console.md, "Limits"). */
import { Worker } from "node:worker_threads";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { TranslatedFolder } from "../translate-folder.ts";
import type { ConsoleBuild } from "./console-source.ts";
import type { FromThread, ToThread } from "./explain-thread.ts";
import type { Explained, TypedRequest } from "./pages/explain.ts";

export type Explainer = {
  explain(typed: TypedRequest, build: ConsoleBuild | undefined): Promise<Explained>;
  close(): Promise<void>;
};

export type ExplainerOptions = {
  readonly portMap: readonly PortMapping[];
  /** The time limit for explaining a request, which does not include the wait for its turn. */
  readonly timeoutMs?: number;
  /** The time without a request after which the thread ends. */
  readonly idleMs?: number;
  /** The program of the thread; by default that of this release. */
  readonly program?: URL;
};

const defaultTimeoutMs = 10_000;
const defaultIdleMs = 60_000;
/** The maximum number of requests in progress or waiting. */
const maxWaiting = 8;
const heapMegabytes = 1_024;

/** The program of the thread, which is next to this module or next to the bundle. */
const threadFile = new URL(
  `./explain-thread${import.meta.url.endsWith(".ts") ? ".ts" : ".mjs"}`,
  import.meta.url,
);

const nothingBuilt: Explained = { type: "problem", message: "Nothing has been built yet." };
const busy: Explained = {
  type: "problem",
  message: "Other requests are being explained: try again in a moment.",
};

export function createExplainer({
  portMap,
  timeoutMs = defaultTimeoutMs,
  idleMs = defaultIdleMs,
  program = threadFile,
}: ExplainerOptions): Explainer {
  let thread: Worker | undefined;
  /** The build and scope that the thread holds. */
  let held: { readonly build: ConsoleBuild; readonly scope: string } | undefined;
  let idle: NodeJS.Timeout | undefined;
  let waiting = 0;
  let asked = 0;
  let last: Promise<unknown> = Promise.resolve();

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    held = undefined;
    await ending?.terminate();
  };

  const start = (): Worker => {
    const started = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: heapMegabytes } });
    started.unref();
    return started;
  };

  const ask = async (typed: TypedRequest, build: ConsoleBuild): Promise<Explained> => {
    clearTimeout(idle);
    thread ??= start();
    const current = thread;
    const { promise, resolve } = Promise.withResolvers<Explained>();
    const id = ++asked;
    const onMessage = ({ id: of, explained }: FromThread): void => {
      if (of === id) resolve(explained);
    };
    const fail = (message: string): void => {
      resolve({ type: "problem", message });
      void end();
    };
    const onError = (): void => fail("The request could not be explained.");
    current.on("message", onMessage);
    current.once("error", onError);
    const limit = setTimeout(
      () => fail(`The request was not explained within ${timeoutMs / 1000} seconds.`),
      timeoutMs,
    );
    const send = (message: ToThread): void => current.postMessage(message);
    if (held?.build !== build || held.scope !== typed.scope) {
      send({ type: "folder", folder: folderOf(build, typed.scope) });
      held = { build, scope: typed.scope };
    }
    send({ type: "ask", id, typed, portMap });
    const explained = await promise;
    clearTimeout(limit);
    current.off("message", onMessage);
    current.off("error", onError);
    idle = setTimeout(() => void end(), idleMs).unref();
    return explained;
  };

  return {
    async explain(typed, build) {
      if (build === undefined) return nothingBuilt;
      if (waiting >= maxWaiting) return busy;
      waiting++;
      const answer = last.then(() => ask(typed, build));
      last = answer.catch(() => undefined);
      return answer.finally(() => waiting--);
    },
    close: end,
  };
}

/** The parts of a build that the thread needs: the resources of the scope, and places without the objects at them. */
function folderOf({ state, translation }: ConsoleBuild, scope: string): TranslatedFolder {
  const dedicated = translation.scopes.dedicated.find(
    ({ gateway }) => formatNamespacedName(gateway) === scope,
  );
  const { resources, routing } = dedicated ?? {
    resources: translation.scopes.shared,
    routing: translation.routing,
  };
  const objects = [...state.objects].map(([key, { ref, place }]) => [key, { ref, place }] as const);
  return {
    state: { objects: new Map(objects) },
    translation: {
      scopes: { shared: resources, dedicated: [] },
      routing,
      nginxReports: translation.nginxReports,
    },
    // The code that explains requests reads nothing else.
  } as unknown as TranslatedFolder;
}
