import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../api/object.ts";
import { validateObject, type InvalidObject } from "../../api/validate.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { declaredPart } from "./object-parts.ts";

/**
 * What the API server reports about an object besides its declared part. It changes whenever a controller reports
 * something, so it is kept apart from the world: a written status must not cause a build.
 */
export type Observed = {
  readonly version: string;
  /** As the server sent it, unknown fields included: parts of it belong to other controllers. */
  readonly status: unknown;
};

/** `version` is the last one that the watch brought; `observed` may be newer. `written` is what our last write has made. */
type Held = {
  readonly object: KubeObject;
  readonly version: string;
  readonly observed: Observed;
  readonly written?: string;
};

/** What a new version of an object changes. */
export type PutOutcome = "declared" | "observed" | "nothing";

/** The objects that one watch holds, by `namespace/name`. Stored objects are never mutated. */
export type HeldObjects = {
  get(name: string): KubeObject | undefined;
  observed(name: string): Observed | undefined;
  names(): readonly string[];
  /** Takes in a version; an invalid object is rejected, and the held one stays. */
  put(name: string, object: KubeObject): Result<PutOutcome, InvalidObject>;
  /**
   * Takes note of a version that a write has answered: the watch will report it soon. `since` is the version that was
   * observed when the write began; what the watch has brought meanwhile is that very version, or one that is newer.
   */
  remember(name: string, object: KubeObject, since: string): void;
  /** Whether what is observed is what the last write has made. */
  isWritten(name: string): boolean;
  delete(name: string): void;
};

/**
 * Creates an empty store. An object keeps its identity while its declared part is the same, so that results derived
 * from it stay valid through a new list.
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
      if (before !== undefined && version !== "" && before.version === version) return ok("nothing");
      const valid = validateObject(declaredPart(incoming));
      if (!valid.ok) return fail(valid.error);
      const object = valid.value.object;
      if (before === undefined || !isDeepStrictEqual(before.object, object)) {
        held.set(name, { ...before, object, version, observed });
        return ok("declared");
      }
      held.set(name, { ...before, version, observed });
      return ok(isDeepStrictEqual(before.observed.status, observed.status) ? "nothing" : "observed");
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
