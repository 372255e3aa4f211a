import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { nameOf, refOf, type KubeObject } from "../../api/object.ts";
import type { KindName } from "../../api/kinds.ts";
import type { InvalidObject } from "../../api/validate.ts";
import { emptyWorld, updateWorld, type World, type WorldChange } from "../../world.ts";
import { createOutageLog } from "./outage-log.ts";
import type { ApiClient, ApiError } from "./api-client.ts";
import { createHeldObjects, type HeldObjects, type Observed } from "./held-objects.ts";
import type { InstalledKind } from "./installed-kinds.ts";
import { runReflector } from "./reflector.ts";

export type WatchEventName = "init_done" | "apply" | "delete" | "restart";

export type ClusterSourceOptions = {
  readonly client: ApiClient;
  readonly kinds: readonly InstalledKind[];
  /** Secrets that the controllers keep for themselves: read by name, whatever their type and labels. */
  readonly ownSecrets: readonly NamespacedName[];
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The world has changed; called for every change once all kinds have listed. */
  readonly onDirty: () => void;
  /** Somebody has changed what the API server reports about an object, and nothing that the world holds. */
  readonly onObserved: (kind: KindName, name: string) => void;
  /** A watch of the kind has failed, or works again. Kinds that are read by several watches say so for each. */
  readonly onWatch: (kind: KindName, watch: string, state: "works" | "failed") => void;
  readonly onEvent: (kind: KindName, event: WatchEventName) => void;
  readonly onError: (kind: KindName) => void;
};

export type ClusterSource = {
  /** True once every watched kind has listed: only then may anything be published. */
  readonly ready: boolean;
  /** The present world. Cheap when nothing changed since the last call. */
  world(): World;
  /** What the API server last said about an object (`namespace/name`) besides what the world holds. */
  observed(kind: KindName, name: string): Observed | undefined;
  /** Takes note of the answer to a write that began when the version `since` was observed. */
  remember(kind: KindName, object: KubeObject, since: string): void;
  /** Whether what the API server last said about an object is what this process has written. */
  isWritten(kind: KindName, name: string): boolean;
  /** Resolves when all watches have ended after the signal. */
  readonly done: Promise<void>;
};

/** One list-and-watch: Secrets are read by narrow ones, so that other Secrets never reach this process. */
type Selection = { readonly labelSelector?: string; readonly fieldSelector?: string };

const everything: readonly Selection[] = [{}];
const secretSelections: readonly Selection[] = [
  { fieldSelector: "type=kubernetes.io/tls" },
  { labelSelector: "ingress.svc-labs.dev/auth-basic=true" },
  { labelSelector: "ingress.svc-labs.dev/auth-tls=true" },
];

const byName = ({ namespace, name }: NamespacedName): Selection => ({
  fieldSelector: `metadata.namespace=${namespace},metadata.name=${name}`,
});

/** Follows all kinds of the API server and keeps a world of them. */
export function startClusterSource(options: ClusterSourceOptions): ClusterSource {
  let world = emptyWorld;
  /** What the world does not hold yet: of each object only the last word, however long nobody asks for the world. */
  let pending = new Map<string, WorldChange>();
  const waiting = new Set<HeldObjects>();
  const held = new Map<KindName, readonly HeldObjects[]>();

  const dirty = (): void => {
    if (waiting.size === 0) options.onDirty();
  };

  const start = (installed: InstalledKind, selection: Selection, own: HeldObjects): Promise<void> => {
    const { kind } = installed;
    const watch = selection.fieldSelector ?? selection.labelSelector ?? "";
    const outage = createOutageLog(options.log, "watch", { kind, ...selection });
    const works = (): void => {
      outage.works();
      options.onWatch(kind, watch, "works");
    };

    const put = (object: KubeObject): boolean => {
      const name = nameOf(refOf(object));
      const outcome = own.put(name, object);
      if (!outcome.ok) {
        options.log.warn(
          { kind, object: name, problems: problemsOf(outcome.error) },
          own.get(name) === undefined
            ? "object refused, it is left out"
            : "object refused, its last good state stays",
        );
        return false;
      }
      if (outcome.value === "observed") options.onObserved(kind, name);
      const stored = own.get(name);
      if (outcome.value !== "declared" || stored === undefined) return false;
      pending.set(`${kind} ${name}`, { type: "apply", object: stored });
      return true;
    };

    const drop = (name: string): boolean => {
      if (own.get(name) === undefined) return false;
      own.delete(name);
      const others = (held.get(kind) ?? []).map((other) => other.get(name));
      const other = others.find((object) => object !== undefined);
      const change: WorldChange =
        other === undefined ? { type: "delete", kind, ...splitName(name) } : { type: "apply", object: other };
      pending.set(`${kind} ${name}`, change);
      return true;
    };

    const onList = (objects: readonly KubeObject[]): void => {
      const present = new Set(objects.map((object) => nameOf(refOf(object))));
      const gone = own.names().filter((name) => !present.has(name));
      const dropped = gone.filter((name) => drop(name)).length;
      const changed = objects.filter((object) => put(object)).length;
      const isFirst = waiting.delete(own);
      options.onEvent(kind, "init_done");
      works();
      options.log.debug({ kind, objects: objects.length, changed: changed + dropped }, "listed");
      if (isFirst || changed + dropped > 0) dirty();
    };

    return runReflector({
      client: options.client,
      path: installed.path,
      apiVersion: installed.apiVersion,
      kind,
      ...selection,
      signal: options.signal,
      events: {
        onList,
        onApply(object) {
          options.onEvent(kind, "apply");
          if (put(object)) dirty();
        },
        onDelete(object) {
          options.onEvent(kind, "delete");
          if (drop(nameOf(refOf(object)))) dirty();
        },
        onOpen: works,
        onRestart: () => options.onEvent(kind, "restart"),
        onError({ status, reason, message }: ApiError) {
          options.onError(kind);
          options.onWatch(kind, watch, "failed");
          outage.failed({ status, reason, error: message });
        },
      },
    });
  };

  const running: Promise<void>[] = [];
  for (const installed of options.kinds) {
    const selected =
      installed.kind === "Secret" ? [...secretSelections, ...options.ownSecrets.map(byName)] : everything;
    const selections = selected.map((selection) => ({ selection, own: createHeldObjects() }));
    held.set(
      installed.kind,
      selections.map(({ own }) => own),
    );
    for (const { own } of selections) waiting.add(own);
    for (const { selection, own } of selections) running.push(start(installed, selection, own));
  }

  return {
    get ready() {
      return waiting.size === 0;
    },
    world() {
      if (pending.size > 0) {
        const changes = pending.values();
        pending = new Map();
        world = updateWorld(world, changes);
      }
      return world;
    },
    observed: (kind, name) => held.get(kind)?.[0]?.observed(name),
    remember: (kind, object, since) => held.get(kind)?.[0]?.remember(nameOf(refOf(object)), object, since),
    isWritten: (kind, name) => held.get(kind)?.[0]?.isWritten(name) === true,
    done: Promise.all(running).then(() => undefined),
  };
}

function splitName(name: string): { readonly namespace?: string; readonly name: string } {
  const slash = name.indexOf("/");
  return slash < 0 ? { name } : { namespace: name.slice(0, slash), name: name.slice(slash + 1) };
}

function problemsOf(error: InvalidObject): string {
  return error.reason === "unknown-kind"
    ? `unknown kind ${error.kind}`
    : error.problems
        .slice(0, 5)
        .map(({ path, message }) => `${path}: ${message}`)
        .join("; ");
}
