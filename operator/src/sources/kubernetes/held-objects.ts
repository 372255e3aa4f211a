import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../api/object.ts";
import { validateObject, type InvalidObject } from "../../api/validate.ts";
import { instead } from "./instead-of-invalid.ts";
import { declaredPart } from "./object-parts.ts";

/**
 * The part of an object that is not declared. It changes whenever a controller reports something, so it is kept apart
 * from the world: a written status must not cause a build.
 */
export type Observed = {
  readonly version: string;
  /** The status as received, including unknown fields, because parts of it belong to other controllers. */
  readonly status: unknown;
};

/**
 * A held object. `version` is the last one that the watch has reported; `observed` may be newer. `written` is the
 * version that our last write created.
 */
type Held = {
  readonly object: KubeObject;
  readonly version: string;
  readonly observed: Observed;
  readonly written?: string;
};

/**
 * The effect of a new version on the held object, and, if the version is invalid and therefore not held, the reason.
 */
export type PutOutcome = {
  readonly change: "declared" | "observed" | "nothing";
  readonly invalid?: InvalidObject;
};

/** The objects that one watch holds, by `namespace/name`. Stored objects are never mutated. */
export type HeldObjects = {
  get(name: string): KubeObject | undefined;
  observed(name: string): Observed | undefined;
  names(): readonly string[];
  /** Stores a version. If it is invalid, the held version is kept, or a stand-in is held if the kind has stand-ins. */
  put(name: string, object: KubeObject): PutOutcome;
  /**
   * Records a version that a write has returned, which the watch will report soon. `since` is the version that was
   * observed when the write began. If the watch has reported another version meanwhile, that is the written version or
   * a newer one.
   */
  remember(name: string, object: KubeObject, since: string): void;
  /** Whether the observed version is the one that the last write created. */
  isWritten(name: string): boolean;
  delete(name: string): void;
};

/**
 * Creates an empty store. An object keeps its identity while its declared part is the same, so that results derived
 * from it remain valid after a new list.
 */
export function createHeldObjects(): HeldObjects {
  const held = new Map<string, Held>();
  return {
    get: (name) => held.get(name)?.object,
    observed: (name) => held.get(name)?.observed,
    names: () => [...held.keys()],
    put(name, incoming) {
      const before = held.get(name);
      const observed = observedOf(incoming);
      const { version } = observed;
      if (before !== undefined && version !== "" && before.version === version) return { change: "nothing" };
      const declared = declaredPart(incoming);
      const valid = validateObject(declared);
      const invalid = valid.ok ? {} : { invalid: valid.error };
      const object = valid.ok ? valid.value.object : instead(declared, valid.error, before?.object);
      if (object === undefined) return { change: "nothing", ...invalid };
      if (before === undefined || !isDeepStrictEqual(before.object, object)) {
        held.set(name, { ...before, object, version, observed });
        return { change: "declared", ...invalid };
      }
      held.set(name, { ...before, version, observed });
      const isSameStatus = isDeepStrictEqual(before.observed.status, observed.status);
      return { change: isSameStatus ? "nothing" : "observed", ...invalid };
    },
    remember(name, object, since) {
      const before = held.get(name);
      if (before === undefined || before.object.metadata.uid !== object.metadata.uid) return;
      const answered = observedOf(object);
      const observed = before.observed.version === since ? answered : before.observed;
      held.set(name, { ...before, observed, written: answered.version });
    },
    isWritten(name) {
      const known = held.get(name);
      return known?.written !== undefined && known.written === known.observed.version;
    },
    delete: (name) => void held.delete(name),
  };
}

const observedOf = (object: KubeObject & { readonly status?: unknown }): Observed => ({
  version: object.metadata.resourceVersion ?? "",
  status: object.status,
});
