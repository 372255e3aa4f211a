import { parseKey, type ParsedKey, type ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { decodeAs, type Decoded } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { forEachInSteps, type Steps } from "../timing/steps.ts";
import type { UpdatePart } from "./update-part.ts";

/** A resource that an update changes. */
export type Change = {
  readonly key: ResourceKey;
  /** Undefined: the key has a form that this release does not know. */
  readonly parsed: ParsedKey | undefined;
  /** The new hash; undefined: the resource is removed. */
  readonly hash: string | undefined;
  /** The new value, whose own key may be another one; undefined where the resource is removed or of an unknown kind. */
  readonly decoded: Decoded | undefined;
};

/** A resource as an update offers it; `value` is undefined where it is known already or of an unknown kind. */
type Offered = {
  readonly key: ResourceKey;
  readonly parsed: ParsedKey | undefined;
  readonly hash: string;
  readonly value: Result<Decoded> | undefined;
};

/** A body of the update that is read next. */
type Body = { readonly hash: string; text: string | undefined; value: Result<Decoded> | undefined };

/**
 * Works out what an update changes and checks it: each new or changed resource must have the announced hash and fit its
 * schema. Resources whose hash is known are not read again, those of unknown kinds are ignored
 * (docs/adr/0003-snapshots-are-keyed-resources.md). The version of the whole update is checked once for all workers
 * (docs/adr/0013-workers.md, "Updates"). The resources may arrive part by part: the decoded values of each part are kept,
 * not its text. `present` does not change before the end.
 */
export class UpdateReader {
  private readonly present: ReadonlyMap<ResourceKey, string>;
  /** Of two resources with one key the later counts. */
  private readonly offered = new Map<ResourceKey, Offered>();
  private readonly bodies: Body[] = [];

  constructor(present: ReadonlyMap<ResourceKey, string>) {
    this.present = present;
  }

  /** Reads a part; parts come in their order. */
  take({ keys, places, first, hashes, bodies }: UpdatePart): void {
    let place = first;
    for (const text of bodies) {
      this.bodies[place] = { hash: hashes[place - first] ?? "", text, value: undefined };
      place += 1;
    }
    let index = 0;
    for (const key of keys) this.offer(key, this.bodies[places[index++] ?? -1]);
    // Another key may need it in a later part, but only in the first snapshot, which is packed while it arrives.
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

/** The value of a body, which is read once for all its keys: they are of one type. */
function read(type: ParsedKey["type"], key: ResourceKey, body: Body | undefined): Result<Decoded> {
  if (body?.value !== undefined) return body.value;
  if (body?.text === undefined) return problem(`resource ${key}: its body is missing`);
  body.value = decodeAs(type, { key, hash: body.hash, body: body.text });
  body.text = undefined;
  return body.value;
}
