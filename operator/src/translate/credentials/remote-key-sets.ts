/** Key sets that come from elsewhere: what is wanted of them, and what became of it. */
import { jwksKey } from "@svc-gateway/common/ir/keys.ts";
import type { KeySet } from "@svc-gateway/common/ir/credentials.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { ObjectRef } from "../../api/object.ts";
import { keySetNotFetched, resourcePartlyIgnored } from "../diagnostics.ts";
import type { Diagnostic } from "../translation.ts";
import { describeUnusable, type UsableKeys } from "./key-set.ts";

/** A key set that routes need. */
export type KeySetNeed = {
  /** `namespace/name` of the JwtAuth, as routes refer to it. */
  readonly name: string;
  readonly object: ObjectRef;
  readonly uri: string;
  readonly refreshIntervalMs: number;
};

/** What fetching a URL has come to; the same object as long as that does not change. */
export type FetchedKeySet = {
  /** The last good set. */
  readonly keys: UsableKeys["keys"] | undefined;
  /** What is wrong with keys of that set that are not used. */
  readonly unusable: UsableKeys["unusable"];
  /** Why the last fetch failed; undefined when it did not. */
  readonly problem: string | undefined;
};

/** By URL. */
export type FetchedKeySets = ReadonlyMap<string, FetchedKeySet>;

type Part = { readonly resources: readonly Resource[]; readonly diagnostics: readonly Diagnostic[] };

/** Remembers the resource of each need until its URL gives another key set. */
export function createKeySetTranslator(): (needs: readonly KeySetNeed[], fetched: FetchedKeySets) => Part {
  type Entry = { readonly keys: FetchedKeySet["keys"]; readonly resource: Resource };
  const entries = new WeakMap<KeySetNeed, Entry>();
  const resourceOf = (need: KeySetNeed, keys: FetchedKeySet["keys"]): Resource => {
    const known = entries.get(need);
    if (known !== undefined && known.keys === keys) return known.resource;
    const value: KeySet = { source: need.uri, ...(keys && { keys }) };
    const resource = encodeResource<"jwks">(jwksKey(need.name), value);
    entries.set(need, { keys, resource });
    return resource;
  };
  return (needs, fetched) => {
    const resources = new Map<string, Resource>();
    const diagnostics: Diagnostic[] = [];
    for (const need of needs) {
      if (resources.has(need.name)) continue;
      const { keys, problem, unusable = [] } = fetched.get(need.uri) ?? {};
      resources.set(need.name, resourceOf(need, keys));
      const place = { object: need.object, field: "spec.jwks.remote.uri" };
      const leftOut = describeUnusable(unusable);
      if (leftOut !== undefined) {
        diagnostics.push(resourcePartlyIgnored(place, `JwtAuth ${need.name}: of the key set, ${leftOut}`));
      }
      if (problem !== undefined) diagnostics.push(keySetNotFetched(place, problem, keys !== undefined));
    }
    return { resources: [...resources.values()], diagnostics };
  };
}

/** What is to be fetched, by URL: as often as the most demanding need asks for. */
export function wantedKeySets(needs: readonly KeySetNeed[]): ReadonlyMap<string, number> {
  const wanted = new Map<string, number>();
  for (const { uri, refreshIntervalMs } of needs) {
    wanted.set(uri, Math.min(wanted.get(uri) ?? Number.POSITIVE_INFINITY, refreshIntervalMs));
  }
  return wanted;
}
