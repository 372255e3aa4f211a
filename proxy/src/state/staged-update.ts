import { parseKey, type ParsedKey, type ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { decodeAs, type Decoded } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { forEachInSteps, type Steps } from "../timing/steps.ts";
import type { UpdatePart } from "./update-part.ts";

/** A resource that an update changes. */
export type Change = {
  readonly key: ResourceKey;
  /** The parsed key; undefined for a form that this release does not know. */
  readonly parsed: ParsedKey | undefined;
  /** The new hash; undefined if the resource is removed. */
  readonly hash: string | undefined;
  /** The new value, shared by all keys of the body; undefined if the resource is removed or of an unknown kind. */
  readonly decoded: Decoded | undefined;
};

/** A resource of an update; `value` is undefined if the resource is unchanged or of an unknown kind. */
type Offered = {
  readonly key: ResourceKey;
  readonly parsed: ParsedKey | undefined;
  readonly hash: string;
  readonly value: Result<Decoded> | undefined;
};

/** A body of the update that is being read. */
type Body = { readonly hash: string; text: string | undefined; value: Result<Decoded> | undefined };

/**
 * Determines the changes of an update and checks them: each new or changed resource must have the announced hash and
 * match its schema. Resources whose hash is known are not decoded again; those of unknown kinds are ignored
 * (docs/adr/0003-snapshots-are-keyed-resources.md). The version of the whole update is checked once for all workers
 * (docs/adr/0013-workers.md, "Updates"). The resources can arrive in parts, of which the decoded values are kept, not
 * the text. `present` must not change before the end of the update.
 */
export class UpdateReader {
  private readonly present: ReadonlyMap<ResourceKey, string>;
  /** The resources of the update; of two with the same key, the later one counts. */
  private readonly offered = new Map<ResourceKey, Offered>();
  private readonly bodies: Body[] = [];

  constructor(present: ReadonlyMap<ResourceKey, string>) {
    this.present = present;
  }

  /** Reads a part; parts must be passed in order. */
  take({ keys, places, first, hashes, bodies }: UpdatePart): void {
    let place = first;
    for (const text of bodies) {
      this.bodies[place] = { hash: hashes[place - first] ?? "", text, value: undefined };
      place += 1;
    }
    let index = 0;
    for (const key of keys) this.offer(key, this.bodies[places[index++] ?? -1]);
    // A later part can refer to the text of a body only in the first snapshot, which is packed while it arrives.
    if (this.present.size > 0) for (const body of this.bodies.slice(first)) body.text = undefined;
  }

  *finish({ full, removed }: Pick<SnapshotUpdate, "full" | "removed">): Steps<Result<readonly Change[]>> {
    const changes: Change[] = [];
    const { present, offered } = this;
    yield* forEachInSteps(full ? present.keys() : new Set(removed), (key) => {
      if (!present.has(key) || offered.has(key)) return;
      changes.push({ key, parsed: parseKey(key), hash: undefined, decoded: undefined });
    });
    let refused: Result<never> | undefined;
    yield* forEachInSteps(offered.values(), ({ key, parsed, hash, value }) => {
      if (present.get(key) === hash) return;
      if (value?.ok === false) refused ??= value;
      else changes.push({ key, parsed, hash, decoded: value?.value });
    });
    return refused ?? ok(changes);
  }

  private offer(key: ResourceKey, body: Body | undefined): void {
    const hash = body?.hash ?? "";
    const parsed = parseKey(key);
    const isRead = parsed !== undefined && this.present.get(key) !== hash;
    this.offered.set(key, { key, parsed, hash, value: isRead ? read(parsed.type, key, body) : undefined });
  }
}

/** Decodes a body, once for all its keys, which have the same type. */
function read(type: ParsedKey["type"], key: ResourceKey, body: Body | undefined): Result<Decoded> {
  if (body?.value !== undefined) return body.value;
  if (body?.text === undefined) return problem(`resource ${key}: its body is missing`);
  body.value = decodeAs(type, { key, hash: body.hash, body: body.text });
  body.text = undefined;
  return body.value;
}
