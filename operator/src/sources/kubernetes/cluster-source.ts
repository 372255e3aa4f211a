import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { nameOf, refOf, type KubeObject } from "../../api/object.ts";
import type { KindName } from "../../api/kinds.ts";
import { validateObject } from "../../api/validate.ts";
import { emptyWorld, updateWorld, type World, type WorldChange } from "../../world.ts";
import type { ApiClient, ApiError } from "./api-client.ts";
import { frugal } from "./frugal.ts";
import type { InstalledKind } from "./installed-kinds.ts";
import { runReflector } from "./reflector.ts";

export type WatchEventName = "init_done" | "apply" | "delete" | "restart";

export type ClusterSourceOptions = {
  readonly client: ApiClient;
  readonly kinds: readonly InstalledKind[];
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Something changed; called for every change once all kinds have listed. */
  readonly onDirty: () => void;
  /** A kind has listed, for the first time or after an outage; `failed` while it cannot. */
  readonly onHealth: (kind: KindName, state: "listed" | "failed") => void;
  readonly onEvent: (kind: KindName, event: WatchEventName) => void;
  readonly onError: (kind: KindName) => void;
};

export type ClusterSource = {
  /** True once every watched kind has listed: only then may anything be published. */
  readonly ready: boolean;
  /** The present world. Cheap when nothing changed since the last call. */
  world(): World;
  /** Resolves when all watches have ended after the signal. */
  readonly done: Promise<void>;
};

/** One list-and-watch: Secrets are read by three narrow ones, so that other Secrets never reach this process. */
type Selection = { readonly labelSelector?: string; readonly fieldSelector?: string };

const secretSelections: readonly Selection[] = [
  { fieldSelector: "type=kubernetes.io/tls" },
  { labelSelector: "ingress.svc-labs.dev/auth-basic=true" },
  { labelSelector: "ingress.svc-labs.dev/auth-tls=true" },
];

/** Objects that one watch holds, by `namespace/name`. */
type Held = Map<string, KubeObject>;

/** Follows all kinds of the API server and keeps a world of them. */
export function startClusterSource(options: ClusterSourceOptions): ClusterSource {
  const { signal, kinds, log } = options;
  let world = emptyWorld;
  let pending: WorldChange[] = [];
  let waiting = 0;
  const running: Promise<void>[] = [];

  const changed = (change: WorldChange): void => {
    pending.push(change);
  };
  const dirty = (): void => {
    if (waiting === 0) options.onDirty();
  };

  const watch = (
    installed: InstalledKind,
    selection: Selection,
    siblings: readonly Held[],
    held: Held,
  ): void => {
    const { kind } = installed;
    let listed = false;
    waiting++;
    const put = (object: KubeObject): void => {
      const name = nameOf(refOf(object));
      const valid = validateObject(frugal(object));
      if (!valid.ok) {
        log.warn(
          { kind, object: name, problems: problemsOf(valid.error) },
          "object refused, its last good state stays",
        );
        return;
      }
      held.set(name, valid.value.object);
      changed({ type: "apply", object: valid.value.object });
    };
    const drop = (name: string): void => {
      held.delete(name);
      const other = siblings.map((sibling) => sibling.get(name)).find((object) => object !== undefined);
      if (other !== undefined) changed({ type: "apply", object: other });
      else changed({ type: "delete", kind, ...splitName(name) });
    };
    const run = runReflector({
      client: options.client,
      path: installed.path,
      apiVersion: installed.apiVersion,
      kind,
      ...selection,
      signal,
      events: {
        onList(objects) {
          const present = new Set(objects.map((object) => nameOf(refOf(object))));
          for (const name of [...held.keys()]) if (!present.has(name)) drop(name);
          for (const object of objects) put(object);
          if (!listed) waiting--;
          listed = true;
          options.onEvent(kind, "init_done");
          options.onHealth(kind, "listed");
          log.debug({ kind, objects: objects.length }, "listed");
          dirty();
        },
        onApply(object) {
          options.onEvent(kind, "apply");
          options.onHealth(kind, "listed");
          put(object);
          dirty();
        },
        onDelete(object) {
          options.onEvent(kind, "delete");
          drop(nameOf(refOf(object)));
          dirty();
        },
        onRestart: () => options.onEvent(kind, "restart"),
        onError(error: ApiError) {
          options.onError(kind);
          options.onHealth(kind, "failed");
          log.warn(
            { kind, status: error.status, reason: error.reason, error: error.message },
            "watch failed",
          );
        },
      },
    });
    running.push(run);
  };

  for (const installed of kinds) {
    const selections = installed.kind === "Secret" ? secretSelections : [{}];
    const all: Held[] = selections.map(() => new Map());
    for (const [index, selection] of selections.entries()) {
      const held = all[index];
      if (held === undefined) continue;
      watch(
        installed,
        selection,
        all.filter((other) => other !== held),
        held,
      );
    }
  }

  return {
    get ready() {
      return waiting === 0;
    },
    world() {
      if (pending.length > 0) {
        const changes = pending;
        pending = [];
        world = updateWorld(world, changes);
      }
      return world;
    },
    done: Promise.all(running).then(() => undefined),
  };
}

function splitName(name: string): { readonly namespace?: string; readonly name: string } {
  const slash = name.indexOf("/");
  return slash < 0 ? { name } : { namespace: name.slice(0, slash), name: name.slice(slash + 1) };
}

function problemsOf(error: Extract<ReturnType<typeof validateObject>, { ok: false }>["error"]): string {
  return error.reason === "unknown-kind"
    ? `unknown kind ${error.kind}`
    : error.problems
        .slice(0, 5)
        .map(({ path, message }) => `${path}: ${message}`)
        .join("; ");
}
