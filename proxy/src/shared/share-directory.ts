import { ownerOfMost } from "../auth/fair-share.ts";
import { busyAt, entriesAt, ownersAt, shareWords, type ShareMemory } from "./share-memory.ts";

/** An owner of shares, as cached by one worker. */
export type ShareOwner = {
  /** The hash of the group; odd, and therefore never that of a free share. */
  readonly group: number;
  readonly name: number;
  readonly seed: number;
  /** The shares of the owner, in the order in which every worker searches them. */
  shares: readonly number[];
  /** The generation of the directory that `shares` was read from. */
  generation: number;
  retryAtMs: number;
  tidyAtMs: number;
};

/** The maximum number of shares of one owner: some 100,000 keys. A lookup searches one bucket in each. */
const maxShares = 128;

/**
 * How long an owner keeps a share after the last time in it, some 9 s, so that shares rarely change their owner. It
 * also means that few changes of a time must extend the time of the share.
 */
const graceNs = 1n << 33n;

/** The generation of an owner whose shares have not been read. */
export const unread = -1;

/** The owner of a share; both are 0 when it is free. */
type Holding = { readonly group: number; readonly name: number };

/**
 * Assigns shares to owners. Groups get equal parts, and so do the owners within a group: when all shares are in use,
 * one is taken from the group with the most, and there from the owner with the most, unless the requesting owner would
 * then have as many. So a group never loses shares of its part (all shares, divided by the groups that use some).
 */
export class ShareDirectory {
  private readonly count: number;
  private readonly words: BigInt64Array;
  private readonly halves: Int32Array;

  constructor({ buffer, shares }: ShareMemory) {
    this.count = shares;
    this.words = new BigInt64Array(buffer);
    this.halves = new Int32Array(buffer);
  }

  /** Reads the owner's shares again if the directory has changed. */
  refresh(owner: ShareOwner): void {
    const generation = Atomics.load(this.halves, 0);
    if (owner.generation === generation) return;
    const { group, name } = owner;
    owner.generation = generation;
    owner.shares = this.select((one) => one.group === group && one.name === name);
    owner.retryAtMs = 0;
  }

  /**
   * Assigns one more share to the owner. Returns false if no share is available for it, and true if the directory has
   * changed, so that the caller must search again.
   */
  extend(owner: ShareOwner, now: bigint): boolean {
    const { words, count } = this;
    const own = this.own(owner);
    if (own.length >= maxShares) return false;
    // Another worker has assigned one meanwhile: without this check, the two would count a client in different places.
    if (own.some((share) => !owner.shares.includes(share))) {
      owner.generation = unread;
      return true;
    }
    const busy = busyAt(count);
    let overdue: number | undefined;
    for (let share = 0; share < count; share++) {
      const holder = Atomics.load(words, ownersAt + share);
      if (holder === 0n) return this.assign(share, holder, owner, now);
      if (overdue === undefined && Atomics.load(words, busy + share) <= now) overdue = share;
    }
    const taken = overdue ?? this.mostExpendable(owner);
    return taken !== undefined && this.assign(taken, Atomics.load(words, ownersAt + taken), owner, now);
  }

  /** Lets an owner without a share use one of its group, or any if the group has none, until the directory changes. */
  borrow(owner: ShareOwner): void {
    const ofGroup = this.select(({ group }) => group === owner.group);
    const hosts = ofGroup.length > 0 ? ofGroup : this.select(() => true);
    owner.shares = [hosts[(owner.name >>> 0) % hosts.length] ?? 0];
  }

  /** Frees the shares of an owner in which all times are over, except for the first share. */
  release(owner: ShareOwner, now: bigint): void {
    const { words, count } = this;
    let isChanged = false;
    for (const share of this.own(owner).slice(1)) {
      if (Atomics.load(words, busyAt(count) + share) > now) continue;
      const present = Atomics.load(words, ownersAt + share);
      isChanged = Atomics.compareExchange(words, ownersAt + share, present, 0n) === present || isChanged;
    }
    if (isChanged) this.announce();
  }

  /** Keeps a share until `time`, whose upper half is `high`, is over. */
  keepUntil(share: number, time: bigint, high: number): void {
    const at = busyAt(this.count) + share;
    if ((this.halves[at * 2 + 1] as number) > high) return;
    for (let present = Atomics.load(this.words, at); present < time;) {
      const before = Atomics.compareExchange(this.words, at, present, time + graceNs);
      if (before === present) return;
      present = before;
    }
  }

  private own({ group, name }: ShareOwner): number[] {
    return this.select((one) => one.group === group && one.name === name);
  }

  private holding(share: number): Holding {
    const at = (ownersAt + share) * 2;
    return { name: this.halves[at] as number, group: this.halves[at + 1] as number };
  }

  private select(matches: (holding: Holding) => boolean): number[] {
    const shares: number[] = [];
    for (let share = 0; share < this.count; share++) if (matches(this.holding(share))) shares.push(share);
    return shares;
  }

  /** The share to take away for the owner: of those of the owner with the most, the one whose times are over first. */
  private mostExpendable(owner: ShareOwner): number | undefined {
    const all = Array.from({ length: this.count }, (_, share) => share);
    const byGroup = Map.groupBy(all, (share) => this.holding(share).group);
    const size = ({ length }: readonly number[]): number => length;
    const [, ofGroup] = ownerOfMost(byGroup, size, owner.group) ?? [];
    const byName = Map.groupBy(
      ofGroup ?? byGroup.get(owner.group) ?? [],
      (share) => this.holding(share).name,
    );
    const loser =
      ofGroup === undefined
        ? ownerOfMost(byName, size, owner.name)?.[1]
        : [...byName.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
    const busy = busyAt(this.count);
    const until = (share: number): bigint => Atomics.load(this.words, busy + share);
    return loser?.reduce((first, share) => (until(share) < until(first) ? share : first));
  }

  /** Empties a share and assigns it to the owner, unless another worker was faster. Always returns true. */
  private assign(share: number, holder: bigint, { group, name }: ShareOwner, now: bigint): boolean {
    const { words, count } = this;
    const next = (BigInt(group) << 32n) | BigInt(name >>> 0);
    if (Atomics.compareExchange(words, ownersAt + share, holder, next) === holder) {
      const entries = entriesAt(count) + share * shareWords;
      if (holder !== 0n) words.fill(0n, entries, entries + shareWords);
      Atomics.store(words, busyAt(count) + share, now + graceNs);
      this.announce();
    }
    return true;
  }

  private announce(): void {
    Atomics.add(this.halves, 0, 1);
  }
}
