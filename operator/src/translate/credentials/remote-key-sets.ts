/** Key sets that are fetched from URLs: which ones routes need, and what was fetched. */
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

/** The result of fetching a URL; the same object while that does not change. */
export type FetchedKeySet = {
  /** The last good set. */
  readonly keys: UsableKeys["keys"] | undefined;
  /** The faults of unusable keys of that set. */
  readonly unusable: UsableKeys["unusable"];
  /** Why the last fetch failed; undefined when it did not. */
  readonly problem: string | undefined;
};

/** By URL. */
export type FetchedKeySets = ReadonlyMap<string, FetchedKeySet>;

type Part = FindingsList & { readonly resources: readonly Resource[] };

/**
 * Remembers the resource of each reference until its URL gives another key set. All of them together take no more
 * than `maxBytes`: of key sets beyond it no key is used.
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

/** About how long a key set is as it is sent. */
const bytesOfKeys = memo((keys: UsableKeys["keys"]): number => Buffer.byteLength(JSON.stringify(keys)));

/**
 * The names of those that are left out, each with its bytes. Every JwtAuth has a copy of what its URL gives, so that
 * a few hundred bytes of an object become hundreds of kilobytes (docs/features/auth-jwt.md, "Keys").
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

/** The URLs to fetch, each as often as the most demanding reference asks for. */
export function wantedKeySets(refs: readonly KeySetRef[]): ReadonlyMap<string, number> {
  const wanted = new Map<string, number>();
  for (const { uri, refreshIntervalMs } of refs) {
    wanted.set(uri, Math.min(wanted.get(uri) ?? Number.POSITIVE_INFINITY, refreshIntervalMs));
  }
  return wanted;
}
