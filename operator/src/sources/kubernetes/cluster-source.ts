import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { formatNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { nameOf, refOf, type KubeObject } from "../../api/object.ts";
import type { KindName } from "../../api/kinds.ts";
import { effectOfInvalid, invalidityOf } from "../../api/stand-in.ts";
import { createWorld, updateWorld, type World, type WorldChange } from "../../world.ts";
import { absentObject, type Absence, type AbsentObject } from "./absent-objects.ts";
import type { ApiClient, ApiError } from "./api-client.ts";
import type { HeldObjects, Observed } from "./held-objects.ts";
import { pathInNamespace, pathOfObject, type InstalledKind } from "./installed-kinds.ts";
import { describeInvalid } from "./instead-of-invalid.ts";
import { createNamespaceBudgets } from "./namespace-budgets.ts";
import { createObjectLoader } from "./object-loader.ts";
import { createOutageLog } from "./outage-log.ts";
import { runReflector, take } from "./reflector.ts";
import { secretWithoutData } from "./secret-data.ts";
import { createSecretNames, secretNamesIn } from "./secret-names.ts";
import { watchesOf, weighed, type Watched } from "./watched.ts";

export type WatchEventName = "init_done" | "apply" | "delete" | "restart";

export type ClusterSourceOptions = {
  readonly client: ApiClient;
  readonly kinds: readonly InstalledKind[];
  /** The namespaces that may be read; undefined for all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** Objects that the world holds in addition to those that are read, for kinds that are not followed. */
  readonly assumed?: readonly KubeObject[];
  /** The controllers' own Secrets, read by name, with any type and labels. */
  readonly ownSecrets: readonly NamespacedName[];
  /** Whether Secrets of type Opaque need no label, as required for Secrets that Ingresses of ingress-nginx name. */
  readonly readsPlainSecrets?: boolean;
  /** Secrets that the settings name. */
  readonly namedSecrets?: readonly NamespacedName[];
  /** The largest size of the objects of one namespace, in bytes; beyond it the newest are left out. */
  readonly maxNamespaceBytes: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called for every change of the world once all kinds have been listed. */
  readonly onDirty: () => void;
  /** Called when the status of an object has changed, which the world does not hold. */
  readonly onObserved: (kind: KindName, name: string) => void;
  /** Called when a watch of the kind has failed or works again, separately for each watch of the kind. */
  readonly onWatch: (kind: KindName, watch: string, state: "works" | "failed") => void;
  readonly onEvent: (kind: KindName, event: WatchEventName) => void;
  readonly onError: (kind: KindName) => void;
  readonly clock?: Clock;
};

export type ClusterSource = {
  /** True once every watched kind has been listed; nothing must be published before. */
  readonly ready: boolean;
  /** The present world. Cheap if nothing has changed since the last call. */
  world(): World;
  /** Returns the version and status of an object (`namespace/name`) that the API server last reported. */
  observed(kind: KindName, name: string): Observed | undefined;
  /** Records the response to a write that began when the version `since` was observed. */
  remember(kind: KindName, object: KubeObject, since: string): void;
  /** Whether the last observed version of an object is the one that this process has written. */
  isWritten(kind: KindName, name: string): boolean;
  /** The objects that the world does not hold because their namespace exceeds its budget, in no particular order. */
  leftOut(): readonly AbsentObject[];
  /** Resolves when, after the signal, all watches have ended. */
  readonly done: Promise<void>;
};

/** The page size for Secrets. A Secret can have 1 MiB, and a page is held as a whole. */
const secretPageSize = 20;
/** The longest wait of an object for the Secrets that it names. */
const parkMs = 10_000;
/** The largest number of problems of an invalid object in one log line. */
const maxLoggedProblems = 5;

/** Follows all kinds of the API server and keeps a world of them. See docs/controller.md, "Memory". */
export function startClusterSource(options: ClusterSourceOptions): ClusterSource {
  const { client, signal, log, clock = monotonicClock } = options;
  let world = createWorld(options.assumed ?? []);
  /** Changes not yet applied to the world: only the last one of each object, so that they stay bounded. */
  let pending = new Map<string, WorldChange>();
  /** Changes that wait because a Secret that they name is being read. */
  const parked = new Map<string, { readonly change: WorldChange; readonly names: ReadonlySet<string> }>();
  const waiting = new Set<Watched>();
  const watched = new Map<KindName, readonly Watched[]>();
  const secretNames = createSecretNames(
    [...options.ownSecrets, ...(options.namedSecrets ?? [])].map(formatNamespacedName),
  );
  const loader = createObjectLoader({ client, clock, signal });
  const othersListed = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => othersListed.resolve(), { once: true });

  const dirty = (): void => {
    if (waiting.size === 0) options.onDirty();
  };

  const secrets = (): readonly Watched[] => watched.get("Secret") ?? [];

  /**
   * Replaces an object in the world by that of another watch of the kind with the same name, or deletes it if no other
   * watch holds one.
   */
  const leave = ({ kind }: Watched, name: string): void => {
    const others = (watched.get(kind) ?? []).map(({ own }) => own.get(name));
    const other = others.find((object) => object !== undefined);
    const change: WorldChange =
      other === undefined ? { type: "delete", kind, ...splitName(name) } : { type: "apply", object: other };
    parked.delete(`${kind} ${name}`);
    pending.set(`${kind} ${name}`, change);
  };

  /** Stops holding an object except for its name and version. Returns true if the world loses it. */
  const leaveOut = (one: Watched, name: string, object: AbsentObject): boolean => {
    one.absent.set(name, object);
    if (one.own.get(name) === undefined) return false;
    one.own.delete(name);
    leave(one, name);
    return true;
  };

  /** Reads an object that is not held, and holds it if it is still wanted. */
  const load = (one: Watched, name: string, why: Absence): Promise<void> => {
    const wanted = (): boolean =>
      one.absent.get(name)?.why === why && (why === "no room" || secretNames.has(name));
    const accept = (object: KubeObject): void => {
      const { installed, reduce } = one;
      if (put(one, take(object, { ...installed, reduce }), true)) dirty();
    };
    return loader.load(pathOfObject(one.installed, name), wanted, accept);
  };

  const budgets = createNamespaceBudgets({
    maxBytes: options.maxNamespaceBytes,
    clock,
    onLeave: (key) => {
      const found = findKey(key);
      const object = found?.one.own.get(found.name);
      if (found === undefined || object === undefined) return;
      const version = found.one.own.observed(found.name)?.version ?? "";
      const { metadata, ...rest } = object;
      const versioned = { ...rest, metadata: { ...metadata, resourceVersion: version } };
      if (leaveOut(found.one, found.name, absentObject(versioned, "no room"))) dirty();
    },
    onReturn: (key) => {
      const found = findKey(key);
      if (found !== undefined) void load(found.one, found.name, "no room");
    },
  });
  const keyOf = (one: Watched, name: string): string => `${one.kind} ${one.index} ${name}`;
  const findKey = (key: string): { readonly one: Watched; readonly name: string } | undefined => {
    const [kind = "", index = "", name = ""] = key.split(" ");
    const one = watched.get(kind as KindName)?.[Number(index)];
    return one && { one, name };
  };

  /** Stops holding the data of Secrets that no object names any more. */
  const release = (names: readonly string[]): void => {
    for (const name of names) {
      for (const one of secrets()) {
        const object = one.own.get(name);
        if (object === undefined || secretNames.has(name)) continue;
        budgets.delete(keyOf(one, name));
        leaveOut(one, name, absentObject(object, "unnamed"));
      }
    }
  };

  /**
   * Adds an object to the world, but not before the Secrets that it names: otherwise its hosts would lack their
   * certificates meanwhile. Returns true if the world has changed.
   */
  const show = (one: Watched, name: string, object: KubeObject): boolean => {
    const { kind } = one;
    const key = `${kind} ${name}`;
    const change: WorldChange = { type: "apply", object };
    const names = secretNamesIn(kind, object);
    const before = secretNames.of(key);
    const unheld = secrets().flatMap((of) =>
      [...names]
        .filter((secret) => of.absent.get(secret)?.why === "unnamed")
        .map((secret) => ({ of, secret })),
    );
    if (unheld.length === 0) {
      parked.delete(key);
      pending.set(key, change);
      release(secretNames.set(key, names));
      return true;
    }
    // The version of the object that the world still holds can name other Secrets.
    secretNames.set(key, new Set([...before, ...names]));
    const entry = { change, names };
    parked.set(key, entry);
    const finish = (): void => {
      cancel();
      if (parked.get(key) !== entry) return;
      parked.delete(key);
      pending.set(key, change);
      release(secretNames.set(key, names));
      dirty();
    };
    const cancel = clock.schedule(parkMs, finish);
    void Promise.all(unheld.map(({ of, secret }) => load(of, secret, "unnamed"))).then(finish);
    return false;
  };

  /** Applies a version of an object. Returns true if the world has changed. */
  const put = (one: Watched, object: KubeObject, isComplete: boolean): boolean => {
    const { kind, own, absent } = one;
    const name = nameOf(refOf(object));
    if (kind === "Secret" && !secretNames.has(name)) {
      budgets.delete(keyOf(one, name));
      return leaveOut(one, name, absentObject(object, "unnamed"));
    }
    if (!isComplete) {
      // An object has named the Secret since its page was read, and it may have been read again already.
      if (own.observed(name)?.version === object.metadata.resourceVersion) return false;
      absent.set(name, absentObject(object, "unnamed"));
      void load(one, name, "unnamed");
      return false;
    }
    const outcome = own.put(name, object);
    const stored = own.get(name);
    // A replacement of an invalid object has a finding; for other invalid objects, the log is the only report.
    if (outcome.invalid !== undefined && (stored === undefined || invalidityOf(stored) === undefined)) {
      const problems = describeInvalid(outcome.invalid).slice(0, maxLoggedProblems).join("; ");
      const effect = effectOfInvalid(undefined, stored !== undefined);
      log.warn({ kind, object: name, problems }, `invalid object, ${effect}`);
      return false;
    }
    if (absent.get(name)?.why === "unnamed") absent.delete(name);
    if (outcome.change === "observed") options.onObserved(kind, name);
    if (outcome.change !== "declared" || stored === undefined) return false;
    if (!budgets.put(keyOf(one, name), weighed(kind, stored))) {
      return leaveOut(one, name, absentObject(object, "no room"));
    }
    absent.delete(name);
    return show(one, name, stored);
  };

  const drop = (one: Watched, name: string): boolean => {
    one.absent.delete(name);
    budgets.delete(keyOf(one, name));
    release(secretNames.set(`${one.kind} ${name}`, noNames));
    if (one.own.get(name) === undefined) return false;
    one.own.delete(name);
    leave(one, name);
    return true;
  };

  const start = async (one: Watched): Promise<void> => {
    const { kind, own, absent, installed, selection } = one;
    const isSecret = kind === "Secret";
    const { namespace, ...selectors } = selection;
    const watch = Object.values(selection).join(" ");
    const outage = createOutageLog(log, "watch", { kind, ...selection });
    const works = (): void => {
      outage.works();
      options.onWatch(kind, watch, "works");
    };

    /** The Secrets of earlier pages whose data was not kept. */
    const stripped = new WeakSet<KubeObject>();
    const reduce = (object: KubeObject): KubeObject => {
      if (!isSecret || secretNames.has(nameOf(refOf(object)))) return one.reduce(object);
      const bare = secretWithoutData(object);
      stripped.add(bare);
      return bare;
    };

    const onList = (objects: readonly KubeObject[]): void => {
      const present = new Set(objects.map((object) => nameOf(refOf(object))));
      const deleted = [...own.names(), ...absent.keys()].filter((name) => !present.has(name));
      const dropped = deleted.filter((name) => drop(one, name)).length;
      const changed = objects.filter((object) => put(one, object, !stripped.has(object))).length;
      const isFirst = waiting.delete(one);
      if (![...waiting].some((other) => other.kind !== "Secret")) othersListed.resolve();
      options.onEvent(kind, "init_done");
      works();
      log.debug({ kind, objects: objects.length, changed: changed + dropped }, "listed");
      if (isFirst || changed + dropped > 0) dirty();
    };

    // The Secrets that objects name are known once all other kinds have been listed.
    if (isSecret) await othersListed.promise;
    return runReflector({
      client,
      ...installed,
      ...(namespace !== undefined && { path: pathInNamespace(installed, namespace) }),
      ...selectors,
      ...(isSecret && { pageSize: secretPageSize }),
      reduce,
      signal,
      events: {
        onList,
        onApply(object) {
          options.onEvent(kind, "apply");
          if (put(one, object, !stripped.has(object))) dirty();
        },
        onDelete(object) {
          options.onEvent(kind, "delete");
          if (drop(one, nameOf(refOf(object)))) dirty();
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

  for (const installed of options.kinds) {
    const all = watchesOf(installed, options);
    watched.set(installed.kind, all);
    for (const one of all) waiting.add(one);
  }
  const everyWatch = [...watched.values()].flat();
  if (everyWatch.every(({ kind }) => kind === "Secret")) othersListed.resolve();
  const running = everyWatch.map(start);

  const holderOf = (kind: KindName, name: string): HeldObjects | undefined =>
    watched.get(kind)?.find(({ own }) => own.get(name) !== undefined)?.own;
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
    observed: (kind, name) => holderOf(kind, name)?.observed(name),
    remember(kind, object, since) {
      const name = nameOf(refOf(object));
      holderOf(kind, name)?.remember(name, object, since);
    },
    isWritten: (kind, name) => holderOf(kind, name)?.isWritten(name) === true,
    leftOut: () =>
      budgets.isExceeded()
        ? everyWatch.flatMap(({ absent }) => [...absent.values()].filter(({ why }) => why === "no room"))
        : [],
    done: Promise.all(running).then(() => undefined),
  };
}

const noNames: ReadonlySet<string> = new Set();

function splitName(name: string): { readonly namespace?: string; readonly name: string } {
  const slash = name.indexOf("/");
  return slash < 0 ? { name } : { namespace: name.slice(0, slash), name: name.slice(slash + 1) };
}
