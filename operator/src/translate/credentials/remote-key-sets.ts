/** Key sets that are fetched from URLs: those that routes need, and those that were fetched. */
import { Buffer } from "node:buffer";
import type { KeySet } from "@svc-gateway/common/ir/credentials.ts";
import { jwksKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { nameOf, type ObjectRef } from "../../api/object.ts";
import type { Age } from "../age.ts";
import {
  keySetLeftOut,
  keySetNeedsKid,
  keySetNotFetched,
  resourcePartlyIgnored,
} from "../diagnostics/references.ts";
import { notServed } from "../events.ts";
import type { DesiredEvent, Diagnostic } from "../finding.ts";
import type { FindingsList } from "../incremental/findings-list.ts";
import { memo } from "../incremental/memo.ts";
import { chooseLeftOut, type Sized } from "../size/choose.ts";
import { sharedScope } from "../size/object-size.ts";
import { describeUntried, describeUnusable, type UsableKeys } from "./key-set.ts";

/** A key set that routes need. */
export type KeySetRef = {
  /** `namespace/name` of the JwtAuth, as routes refer to it. */
  readonly name: string;
  readonly object: ObjectRef;
  readonly age: Age;
  readonly uri: string;
  readonly refreshIntervalMs: number;
};

/** The result of fetching a URL. The object stays the same until the result changes. */
export type FetchedKeySet = {
  /** The keys of the last valid set; undefined if there was none. */
  readonly keys: UsableKeys["keys"] | undefined;
  /** The faults of unusable keys of that set. */
  readonly unusable: UsableKeys["unusable"];
  /** The reason why the last fetch failed; undefined if it succeeded. */
  readonly problem: string | undefined;
};

/** The results by URL. */
export type FetchedKeySets = ReadonlyMap<string, FetchedKeySet>;

type Part = FindingsList & { readonly resources: readonly Resource[] };

/**
 * Remembers the resource of each reference until its URL returns another key set. All key sets together take at
 * most `maxBytes`; of those that are left out, no key is used.
 */
export function createKeySetTranslator(
  maxBytes: number,
): (refs: readonly KeySetRef[], fetched: FetchedKeySets) => Part {
  type Entry = { readonly keys: FetchedKeySet["keys"]; readonly resource: Resource };
  const entries = new WeakMap<KeySetRef, Entry>();
  const resourceOf = (ref: KeySetRef, keys: FetchedKeySet["keys"]): Resource => {
    const known = entries.get(ref);
    if (known !== undefined && known.keys === keys) return known.resource;
    const value: KeySet = { source: ref.uri, ...(keys && { keys }) };
    const resource = encodeResource<"jwks">(jwksKey(ref.name), value);
    entries.set(ref, { keys, resource });
    return resource;
  };
  return (refs, fetched) => {
    const byName = new Map(refs.map((ref) => [ref.name, ref]));
    const leftOut = leftOutOf([...byName.values()], fetched, maxBytes);
    const resources: Resource[] = [];
    const diagnostics: Diagnostic[] = [];
    const events: DesiredEvent[] = [];
    for (const ref of byName.values()) {
      const { keys, problem, unusable = [] } = fetched.get(ref.uri) ?? {};
      const place = { object: ref.object, field: "spec.jwks.remote.uri" };
      const bytes = leftOut.get(ref.name);
      resources.push(resourceOf(ref, bytes === undefined ? keys : undefined));
      if (bytes !== undefined) {
        const finding = keySetLeftOut(place, maxBytes, bytes);
        diagnostics.push(finding);
        events.push(notServed(ref.object, finding.message));
        continue;
      }
      const unused = describeUnusable(unusable);
      if (unused !== undefined) {
        diagnostics.push(
          resourcePartlyIgnored(place, `JwtAuth ${ref.name}: the key set has unusable keys: ${unused}`),
        );
      }
      const untried = keys && describeUntried(keys);
      if (untried !== undefined) diagnostics.push(keySetNeedsKid(place, `JwtAuth ${ref.name}: ${untried}`));
      if (problem !== undefined) diagnostics.push(keySetNotFetched(place, problem, keys !== undefined));
    }
    return { resources, diagnostics, events };
  };
}

/** The approximate size of a key set as it is sent, in bytes. */
const bytesOfKeys = memo((keys: UsableKeys["keys"]): number => Buffer.byteLength(JSON.stringify(keys)));

/**
 * The names of key sets that are left out, each with its size in bytes. Every JwtAuth has a copy of the
 * response of its URL, so that a few hundred bytes of an object become hundreds of kilobytes
 * (docs/features/auth-jwt.md, "Keys").
 */
function leftOutOf(
  refs: readonly KeySetRef[],
  fetched: FetchedKeySets,
  maxBytes: number,
): ReadonlyMap<string, number> {
  let total = 0;
  const sizes = refs.map(({ object, age, uri }): Sized => {
    const { keys } = fetched.get(uri) ?? {};
    const bytes = keys === undefined ? 0 : bytesOfKeys(keys);
    total += bytes;
    return { size: { object, age, scopes: [], isTooLarge: false }, bytes: [bytes, 0, 0] };
  });
  if (total <= maxBytes) return new Map();
  return new Map(
    chooseLeftOut(sharedScope, sizes, maxBytes).map(({ object, bytes }) => [nameOf(object), bytes]),
  );
}

/** The URLs to fetch, each with the shortest interval of its references. */
export function wantedKeySets(refs: readonly KeySetRef[]): ReadonlyMap<string, number> {
  const wanted = new Map<string, number>();
  for (const { uri, refreshIntervalMs } of refs) {
    wanted.set(uri, Math.min(wanted.get(uri) ?? Number.POSITIVE_INFINITY, refreshIntervalMs));
  }
  return wanted;
}
