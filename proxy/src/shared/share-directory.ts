import { ownerOfMost } from "../auth/fair-share.ts";
import { busyAt, entriesAt, ownersAt, shareWords, type ShareMemory } from "./share-memory.ts";

/** An owner of shares, as one worker sees it. */
export type ShareOwner = {
  /** Hash of the group, odd, so never that of a free share. */
  readonly group: number;
  readonly name: number;
  readonly seed: number;
  /** Its shares, in the order in which every worker looks through them. */
  shares: readonly number[];
  /** The state of the directory that `shares` was read from. */
  generation: number;
  retryAtMs: number;
  tidyAtMs: number;
};

/** Shares that one owner may have: some 100,000 keys, and so many places that a lookup goes through. */
const maxShares = 128;

/** A share stays its owner's for so long after the last time in it, some 9 s, so that it does not change
 * hands all the time, and so that few changes of a time move this one, too. */
const graceNs = 1n << 33n;

/** The generation of an owner whose shares are to be read. */
export const unread = -1;

/** Whose a share is. A share that is free is nobody's in no group. */
type Holding = { readonly group: number; readonly name: number };

/**
 * Who has which share. Groups get equal parts, and within a group its owners: when all shares are in use, a new one is taken
 * from the group, and in it from the owner, that has the most, unless the one who asks would then have as many. So what a
 * group has up to its part (all shares, divided by the groups that use some) is never taken from it.
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

  /** Looks who has what, if that has changed. */
  refresh(owner: ShareOwner): void {
    const generation = Atomics.load(this.halves, 0);
    if (owner.generation === generation) return;
    const { group, name } = owner;
    owner.generation = generation;
    owner.shares = this.select((one) => one.group === group && one.name === name);
    owner.retryAtMs = 0;
  }

  /** Gets the owner one more share; false when there is none for it, true when something has changed: look again. */
  extend(owner: ShareOwner, now: bigint): boolean {
    const { words, count } = this;
    const own = this.own(owner);
    if (own.length >= maxShares) return false;
    // Another worker has got one meanwhile: without this look, both would count the same client in two places.
    if (own.some((share) => !owner.shares.includes(share))) {
      owner.generation = unread;
      return true;
    }
    const busy = busyAt(count);
    let overdue: number | undefined;
    for (let share = 0; share < count; share++) {
      const holder = Atomics.load(words, ownersAt + share);
      if (holder === 0n) return this.hand(share, holder, owner, now);
      if (overdue === undefined && Atomics.load(words, busy + share) <= now) overdue = share;
    }
    const taken = overdue ?? this.mostExpendable(owner);
    return taken !== undefined && this.hand(taken, Atomics.load(words, ownersAt + taken), owner, now);
  }

  /** An owner that gets no share uses one of its group's, or of anybody's if the group has none, until there is a change. */
  lodge(owner: ShareOwner): void {
    const ofGroup = this.select(({ group }) => group === owner.group);
    const hosts = ofGroup.length > 0 ? ofGroup : this.select(() => true);
    owner.shares = [hosts[(owner.name >>> 0) % hosts.length] ?? 0];
  }

  /** Frees the shares of an owner in which no time is to come, but for the first. */
  giveBack(owner: ShareOwner, now: bigint): void {
    const { words, count } = this;
    let isChanged = false;
    for (const share of this.own(owner).slice(1)) {
      if (Atomics.load(words, busyAt(count) + share) > now) continue;
      const present = Atomics.load(words, ownersAt + share);
      isChanged = Atomics.compareExchange(words, ownersAt + share, present, 0n) === present || isChanged;
    }
    if (isChanged) this.announce();
  }

  /** The share holds a time that is to come. */
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

  private select(isWanted: (holding: Holding) => boolean): number[] {
    const shares: number[] = [];
    for (let share = 0; share < this.count; share++) if (isWanted(this.holding(share))) shares.push(share);
    return shares;
  }

  /** The share that is to be given up for the owner: of those with the most, the one whose times are over first. */
  private mostExpendable(owner: ShareOwner): number | undefined {
    const all = Array.from({ length: this.count }, (_, share) => share);
    const byGroup = Map.groupBy(all, (share) => this.holding(share).group);
    const size = ({ length }: readonly number[]): number => length;
    const [, ofGroup] = ownerOfMost(byGroup, size, owner.group) ?? [];
    const byName = Map.groupBy(
      ofGroup ?? byGroup.get(owner.group) ?? [],
      (share) => this.holding(share).name,
    );
    const lost =
      ofGroup === undefined
        ? ownerOfMost(byName, size, owner.name)?.[1]
        : [...byName.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
    const busy = busyAt(this.count);
    const until = (share: number): bigint => Atomics.load(this.words, busy + share);
    return lost?.reduce((first, share) => (until(share) < until(first) ? share : first));
  }

  /** Makes a share the owner's, empty, unless somebody else was faster. */
  private hand(share: number, holder: bigint, { group, name }: ShareOwner, now: bigint): boolean {
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
